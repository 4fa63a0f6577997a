from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perdure.activities.builtin.pages import page_text

HERE = "https://example.org/a/b"


def test_a_page_is_its_title_and_its_words_block_by_block() -> None:
    html = """<!doctype html><html><head><title> The
      page </title><style>p { color: red }</style><script>let x = "<p>no</p>";</script></head>
      <body><h1>Head &amp; toes</h1><p>One
      sentence,   <b>bold</b>.</p><ul><li>first<li>second</ul>
      <noscript>switch it on</noscript><svg><title>no</title><text>no</text></svg>
      <table><tr><td>a</td><td>b</td></tr></table></body></html>"""

    assert page_text(html, HERE) == "The page\n\n# Head & toes\nOne sentence, bold.\n- first\n- second\na\nb"


def test_links_are_absolute_and_only_those_that_can_be_fetched() -> None:
    html = (
        '<p><a href="/x">one</a> <a href="c?q=1">two</a> <a href="http://o.example">three</a> <a href="#top">four</a> '
        '<a href="javascript:x()">five</a> <a href="mailto:a@b">six</a> <a>seven</a> <a href="http://[">eight</a></p>'
    )

    assert page_text(html, HERE) == (
        "[one](https://example.org/x) [two](https://example.org/a/c?q=1) [three](http://o.example) four five six seven "
        "eight"
    )


def test_a_head_that_is_never_closed_hides_no_words() -> None:
    assert page_text("<head><title>T</title><body><p>words", HERE) == "T\n\nwords"


def test_text_without_any_mark_up_stays() -> None:
    assert page_text("just words", HERE) == "just words"


@given(st.text(alphabet="<>/!-=&;#\"' abpi\n\0€", max_size=200))
def test_no_broken_page_raises(html: str) -> None:
    page_text(html, HERE)
