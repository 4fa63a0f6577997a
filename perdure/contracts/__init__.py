"""Frozen data: the project's words.

The rule of this room: no behaviour beyond checks and small views on the data, no clock, no randomness, no input or
output, and no import from any other room.
"""
