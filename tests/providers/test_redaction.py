from __future__ import annotations

import pytest

from perdure.providers.redaction import redacted, scrubbed

KEY = "sk-canary-0123456789"
RUN = "QUJD" * 40


def test_secrets_and_long_runs_go_and_the_rest_stays() -> None:
    assert scrubbed(f"Incorrect key {KEY}: {RUN} was sent", (KEY, "")) == "Incorrect key [key]: […] was sent"
    assert scrubbed("a word of thirty letters or so stays", (KEY,)) == "a word of thirty letters or so stays"


def test_a_body_is_searched_in_all_its_depth() -> None:
    body = {"error": [{"message": KEY, "code": 4, "raw": None}], KEY: True}
    assert redacted(body, (KEY,)) == {"error": [{"message": "[key]", "code": 4, "raw": None}], KEY: True}
    assert redacted(f'{{"message": "{KEY} {RUN}"}}'.encode(), (KEY,)) == '{"message": "[key] […]"}'.encode()
    assert redacted(b"\xff", (KEY,)) == "\ufffd".encode()


@pytest.mark.parametrize(
    "key",
    [
        "sk-abcdefghijklmnop1234",
        "sk-proj-Abc_def-0123456789",
        "gsk_0123456789abcdefghij",
        "hf_abcdefghijklmnopqrst",
        "AIzaSyA0123456789abcdefghijklmnop",
    ],
)
def test_a_key_that_is_not_known_goes_by_its_form(key: str) -> None:
    assert scrubbed(f"Incorrect key {key}, see the console.", ()) == "Incorrect key [key], see the console."


def test_a_bearer_token_goes_and_words_about_it_stay() -> None:
    assert scrubbed("got 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x'", ()) == "got 'Bearer [key]'"
    assert scrubbed("Missing bearer authentication in header", ()) == "Missing bearer authentication in header"


@pytest.mark.parametrize("words", ["skip_special_tokens_in_text", "hf-internal-testing/tiny-random", "sk-****1234"])
def test_what_only_begins_like_a_key_stays(words: str) -> None:
    assert scrubbed(f"{words} is unknown", ()) == f"{words} is unknown"
