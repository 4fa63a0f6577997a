"""The commands as click sees them: arguments, options and help.

Rule: nothing here imports what a command does before it is called; a page of help must not wait for Temporal's library.
"""
