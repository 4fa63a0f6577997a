"""Text whose characters were cut in two by a server that escapes them as UTF-16 and streams the halves apart."""

from __future__ import annotations


class SurrogateJoiner:
    """Joins halves that belong together and replaces lone ones by U+FFFD: no recorder could encode them."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """``text`` mended; a first half at its end waits for its second."""
        if not self._half and text.isascii():
            return text
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _mended(text)

    def end(self) -> str:
        """What was still held back."""
        text, self._half = self._half, ""
        return _mended(text)


def _mended(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
