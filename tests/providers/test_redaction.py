from __future__ import annotations

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
