from __future__ import annotations

from perdure.activities.redaction import HIDDEN, KnownSecrets
from perdure.contracts.tools import ToolOutput


def test_a_known_secret_is_hidden_wherever_it_stands() -> None:
    output = ToolOutput(text="key=canary-123!", data={"canary-123": ["x canary-123", 7, None]})
    assert KnownSecrets(["canary-123"]).hide(output) == ToolOutput(
        text=f"key={HIDDEN}!", data={HIDDEN: [f"x {HIDDEN}", 7, None]}
    )


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    assert KnownSecrets(["canary", "canary-123"]).hide(ToolOutput(text="canary-123")).text == HIDDEN


def test_what_only_looks_like_a_key_stays() -> None:
    output = ToolOutput(text="sk-0123456789abcdefghij")
    assert KnownSecrets(["another"]).hide(output) == output
    assert KnownSecrets().hide(output) is output
