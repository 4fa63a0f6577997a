from __future__ import annotations

from typing import Any

from perdure.providers.anthropic_caching import marked, marked_last

MARK = {"type": "ephemeral"}


def message(role: str, *texts: str) -> tuple[str, list[dict[str, Any]]]:
    return role, [{"type": "text", "text": text} for text in texts]


def test_a_mark_stands_on_the_block_behind_which_it_is_cut() -> None:
    block: dict[str, Any] = {"type": "text", "text": "a"}
    assert marked(block) == {"type": "text", "text": "a", "cache_control": MARK}
    assert "cache_control" not in block


def test_the_last_two_of_the_users_messages_are_marked_at_their_ends() -> None:
    messages = [message("user", "a"), message("assistant", "b"), message("user", "c"), message("assistant", "d"),
                message("user", "e", "f")]  # fmt: skip
    marked_last(messages)
    found = [block["text"] for _, content in messages for block in content if block.get("cache_control") == MARK]
    assert found == ["c", "f"]


def test_nothing_to_mark_is_no_error() -> None:
    marked_last([])
    alone = [message("assistant", "a")]
    marked_last(alone)
    assert "cache_control" not in alone[0][1][0]
