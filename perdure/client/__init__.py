"""What applications use: start a run, follow its events, respond, send, interrupt, close, cancel, get the output.

Rule: a slow or broken caller never touches a run; every event can be read again from its position.
"""
