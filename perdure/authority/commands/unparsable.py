"""The error of a text whose meaning is in doubt."""

from __future__ import annotations


class UnparsableError(Exception):
    """The text is no command that this analysis can read. The message is one phrase for people."""
