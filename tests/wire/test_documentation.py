"""What docs/providers-wire.md tells of all protocols together, beside what each protocol's own tests compare."""

from __future__ import annotations

from tests.wire import test_anthropic_encoding as anthropic
from tests.wire import test_openai_chat_requests as chat
from tests.wire import test_openai_responses_requests as responses
from tests.wire.gemini_ways import WAYS as GEMINI_WAYS


def test_no_more_than_fifteen_ways_to_differ_have_a_name() -> None:
    assert len({*anthropic.WAYS, *chat.WAYS, *responses.WAYS, *GEMINI_WAYS}) <= 15
