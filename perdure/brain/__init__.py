"""The brain: from a state and what just happened, what is to be done next.

The rule of this room: pure, total and synchronous. No clock, no randomness, no handles, no input or output; time comes
in with outcomes. Everything that it decides is data, so that the same brain drives the Temporal workflow, the
in-process engine and the projection of a history.
"""
