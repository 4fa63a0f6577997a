"""A web page as text: its title, its words by block, its links as Markdown."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "select"})
BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "br",
        "caption",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    }
)
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
MOST_LINK_CHARACTERS = 300


class _Page(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.address = address
        self.title = ""
        self.pieces: list[str] = []
        self.hidden: list[str] = []
        self.in_title = False
        self.link = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self.in_title = True
        if tag in HIDDEN:
            self.hidden.append(tag)
        if self.hidden:
            return
        if tag in BLOCKS:
            self.pieces.append("\n" + HEADINGS.get(tag, "- " if tag == "li" else ""))
        if tag == "a":
            target = dict(attrs).get("href") or ""
            self.link = _absolute(self.address, target)
            self.pieces.append("[" * bool(self.link))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self.in_title = False
        if tag in self.hidden:
            # An element that was never closed ends with the one around it.
            del self.hidden[self.hidden.index(tag) :]
            return
        if self.hidden:
            return
        if tag in BLOCKS:
            self.pieces.append("\n")
        if tag == "a" and self.link:
            self.pieces.append(f"]({self.link})")
            self.link = ""

    def handle_data(self, data: str) -> None:
        if self.in_title:
            self.title = self.title or " ".join(data.split())
        elif not self.hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))


def page_text(html: str, address: str) -> str:
    """The readable text of an HTML page that was fetched from ``address``; never raises on broken HTML."""
    page = _Page(address)
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.pieces).splitlines())
    text = "\n".join(line for line in lines if line.strip("-# "))
    return f"{page.title}\n\n{text}".strip() if page.title else text


def _absolute(address: str, target: str) -> str:
    if not target or target.startswith("#") or len(target) > MOST_LINK_CHARACTERS:
        return ""
    try:
        found = urljoin(address, target.strip())
    except ValueError:
        return ""
    return found if found.startswith(("http://", "https://")) else ""
