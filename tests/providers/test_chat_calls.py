from __future__ import annotations

import json

import pytest

from perdure.providers.chat_calls import CallSorter


def sorted_calls(*deltas: list[dict[str, object]], whole: bool = False) -> list[tuple[str, str, str]]:
    sorter = CallSorter("origin")
    calls: dict[int, list[str]] = {}
    for delta in deltas:
        for piece in sorter.pieces(json.loads(json.dumps(delta)), whole=whole):
            call = calls.setdefault(piece.index, ["", "", ""])
            call[0], call[1], call[2] = call[0] or piece.id, call[1] or piece.name, call[2] + piece.arguments
    return [(call[0], call[1], call[2]) for _, call in sorted(calls.items())]


def delta(arguments: object = None, name: str | None = None, **fields: object) -> dict[str, object]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


PARIS, ROME = '{"city": "Paris"}', '{"city": "Rome"}'
BOTH = [("a", "weather", PARIS), ("b", "weather", ROME)]


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [
                [delta("", "weather", index=0, id="a")],
                [delta('{"city": ', index=0)],
                [delta("", "weather", index=1, id="b")],
                [delta('"Paris"}', index=0)],
                [delta(ROME, index=1)],
            ],
            id="an index each, interleaved",
        ),
        pytest.param(
            [[delta(PARIS, "weather", index=0, id="a")], [delta(ROME, "weather", index=0, id="b")]],
            id="index 0 for all and an id each",
        ),
        pytest.param(
            [[delta(PARIS, "weather", index=0, id="a"), delta(ROME, "weather", index=0, id="b")]],
            id="index 0 for all in one piece",
        ),
        pytest.param(
            [[delta(PARIS, "weather", id="a")], [delta(ROME, "weather", id="b")]], id="no index and whole calls"
        ),
        pytest.param(
            [
                [delta("", "weather", id="a")],
                [delta('{"city": ')],
                [delta('"Paris"}')],
                [delta("", "weather", id="b")],
                [delta(ROME)],
            ],
            id="no index and pieces without id",
        ),
        pytest.param(
            [
                [delta('{"city": ', "weather", index=0, id="a")],
                [delta('"Paris"}', "weather", index=0, id="a")],
                [delta(ROME, "weather", index=1, id="b")],
            ],
            id="name and id in every piece",
        ),
        pytest.param(
            [
                [delta('{"city": ', "", index=0, id="a")],
                [delta('"Paris"}', "weather", index=0)],
                [delta(ROME, "weather", index=1, id="b")],
            ],
            id="the name late and empty at first",
        ),
        pytest.param(
            [
                [delta({"city": "Paris"}, "weather", index=0, id="a")],
                [delta({"city": "Rome"}, "weather", index=1, id="b")],
            ],
            id="arguments as objects",
        ),
    ],
)
def test_pieces_find_their_call_in_every_servers_way(deltas: list[list[dict[str, object]]]) -> None:
    assert sorted_calls(*deltas) == BOTH


@pytest.mark.parametrize(
    "fields", [{"index": 0, "id": ""}, {"index": 0, "id": "call_0"}, {"id": ""}, {"id": "call_0"}, {}]
)
def test_whole_calls_that_share_index_and_id_are_still_two(fields: dict[str, object]) -> None:
    calls = sorted_calls([delta(PARIS, "weather", **fields)], [delta(ROME, "weather", **fields)])
    assert [arguments for _, _, arguments in calls] == [PARIS, ROME]


def test_calls_to_different_tools_without_index_and_id_are_two() -> None:
    assert sorted_calls([delta("", "list")], [delta("{}", "read")]) == [("", "list", ""), ("", "read", "{}")]


def test_each_entry_of_a_whole_message_is_a_call_of_its_own() -> None:
    entries = [delta("", "list", id="call_0"), delta("", "list", id="call_0")]
    assert sorted_calls(entries, whole=True) == [("call_0", "list", ""), ("call_0", "list", "")]


def test_a_call_that_never_gets_a_name_is_noticed() -> None:
    sorter = CallSorter("origin")
    assert not sorter.nameless
    assert list(sorter.pieces([{"index": 0, "id": "a", "function": {"arguments": "{}"}}]))
    assert sorter.nameless


@pytest.mark.parametrize("odd", [None, {}, "x", [None], ["x"], [{"function": "x"}], [{"index": "0", "id": 7}]])
def test_odd_forms_are_taken_as_they_come(odd: object) -> None:
    assert len(list(CallSorter("origin").pieces(odd))) == (len(odd) if isinstance(odd, list) else 0)  # type: ignore[arg-type] # any JSON value
