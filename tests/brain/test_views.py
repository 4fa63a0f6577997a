from __future__ import annotations

from perdure.brain.transcript import append
from perdure.brain.views import PAGE_BYTES, open_requests, output, summary, transcript_page
from perdure.contracts.digests import START, extend_digest
from perdure.contracts.requests import RunRequest, Send
from perdure.contracts.state import State
from tests.brain.agents import a_call, reply
from tests.brain.runs import Led


def a_long_run(messages: int, size: int) -> State:
    run = Led()
    run.resolved()
    return append(run.state, *(reply(f"t1s{number}", "x" * size) for number in range(messages)))


def test_pages_put_together_are_the_transcript_and_its_digest() -> None:
    state = a_long_run(messages=40, size=PAGE_BYTES // 10)
    digest, read = START, 0
    pages = 0
    while read < state.revision:
        page = transcript_page(state, read)
        assert (page.start, page.revision, page.digest) == (read, state.revision, state.digest)
        for message in page.messages:
            digest = extend_digest(digest, message)
        read += len(page.messages)
        pages += 1

    assert digest == state.digest
    assert pages >= 4


def test_a_page_is_bounded_and_holds_one_message_whatever_its_size() -> None:
    state = a_long_run(messages=3, size=2 * PAGE_BYTES)

    assert [len(transcript_page(state, start).messages) for start in range(1, 4)] == [1, 1, 1]
    assert len(transcript_page(a_long_run(40, PAGE_BYTES // 10), 0).model_dump_json()) < 2 * PAGE_BYTES


def test_the_agent_comes_with_the_first_page_only() -> None:
    state = a_long_run(messages=2, size=1)

    assert transcript_page(state, 0).agent == state.agent
    assert transcript_page(state, 1).agent is None


def test_a_page_that_starts_outside_the_transcript_is_empty_or_the_first() -> None:
    state = a_long_run(messages=2, size=1)

    assert transcript_page(state, 99).messages == ()
    assert transcript_page(state, -5).start == 0


def test_the_summary_tells_where_the_run_is_and_what_waits() -> None:
    run = Led(RunRequest(message="hi", metadata={"ticket": 7}))
    run.resolved()
    run.replied(a_call("write"))
    run.judged(t1s1c1="ask")
    run.told(Send(message="and this"))

    shown = summary(run.state)

    assert (shown.status, shown.agent, shown.model) == ("waiting_approval", "assistant", "scripted:test")
    assert (shown.turn, shown.step, shown.revision, shown.queued) == (1, 1, 2, 1)
    assert (shown.waiting_calls, shown.metadata) == (("t1s1c1",), {"ticket": 7})


def test_the_output_of_a_run_that_has_not_answered_is_empty() -> None:
    run = Led()

    assert (output(run.state).output, output(run.state).end) == ("", None)


def test_open_requests_are_what_waits_for_people() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("write"), a_call("ask_human", question="Which?"))
    run.judged(t1s1c1="ask", t1s1c2="allow")

    waiting = open_requests(run.state)

    assert [call.call_id for request in waiting.requests for call in request.calls] == ["t1s1c1"]
    assert [question.text for question in waiting.questions] == ["Which?"]
