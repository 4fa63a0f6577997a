from __future__ import annotations

from perdure.contracts.messages import AssistantMessage, CallPart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.tool_names import ToolNames, called_tools, tool_names


def test_names_that_a_server_does_not_take_are_mapped_there_and_back() -> None:
    names = ToolNames(["fs.read", "fs_read", "fs-read", "fs/read", "é" * 80, "x" * 65])
    mapped = [names.sent(name) for name in ("fs.read", "fs_read", "fs-read", "fs/read", "é" * 80, "x" * 65)]
    assert mapped[1:3] == ["fs_read", "fs-read"]
    assert len(set(mapped)) == 6
    assert all(len(name) <= 64 and name.replace("-", "_").isidentifier() for name in mapped)
    assert [names.ours(name) for name in mapped[:4]] == ["fs.read", "fs_read", "fs-read", "fs/read"]
    assert names.ours("made_up") == "made_up"


def test_names_begin_with_a_letter_where_that_is_asked_for_and_lead_back_to_ours() -> None:
    request = ModelRequest(model="gemini:x", tools=(ToolSpec(name="7zip.pack"), ToolSpec(name="_7zip_pack")))
    names = tool_names(request, letter_first=True)
    given = [names.sent(tool.name) for tool in request.tools]
    assert given[1] == "_7zip_pack"
    assert given[0].startswith("_7zip_pack_")
    assert [names.ours(name) for name in given] == ["7zip.pack", "_7zip_pack"]
    assert tool_names(request).sent("7zip.pack") == "7zip_pack"


def test_tools_of_the_history_are_known_each_once_though_they_are_not_offered() -> None:
    calls = tuple(CallPart(call_id=f"t1s1c{number}", tool="fs.read") for number in (1, 2))
    request = ModelRequest(model="openai:x", messages=(AssistantMessage(message_id="t1s1", parts=calls, model="x"),))
    assert called_tools(request) == ("fs.read",)
    assert tool_names(request).ours("fs_read") == "fs.read"
