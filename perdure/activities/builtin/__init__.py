"""The tools that every worker serves: files and folders of the workspace, commands, web pages, and people.

Rule: each works within the call's workspace and is bounded in time and size; whether a call may run at all is the
authority's word, and is not decided here again.
"""

from __future__ import annotations

from perdure.activities.builtin.commands import execute_command
from perdure.activities.builtin.files import read_file, write_file
from perdure.activities.builtin.folders import list_dir
from perdure.activities.builtin.people import ask_human
from perdure.activities.builtin.web import Web
from perdure.activities.functions import Tool, tool_from


def builtin_tools(web: Web | None = None) -> tuple[Tool, ...]:
    """The built-in tools. ``web`` says what ``fetch_url`` may reach; by default nothing but the public internet."""
    functions = (read_file, write_file, list_dir, execute_command, (web or Web()).fetch_url, ask_human)
    return tuple(tool_from(function) for function in functions)
