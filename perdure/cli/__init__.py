"""The command line.

Rule: the only room that prints and exits. A person sees one line that says what to do, never a traceback.
"""
