from __future__ import annotations

from datetime import timedelta

from perdure.activities.declaration import Declaration, declared_of, tool
from perdure.contracts.tools import ToolSpec


def test_a_decorated_function_is_still_the_same_function() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    assert tool(effect="read")(add) is add
    assert add(1, 2) == 3


def test_the_declaration_holds_what_was_declared() -> None:
    @tool(
        name="remove",
        effect="write",
        idempotent=True,
        polling=True,
        deadline=timedelta(seconds=9),
        path_arguments=("path",),
        command_argument="command",
        handler="human",
    )
    def function(path: str, command: str) -> None: ...

    assert declared_of(function) == Declaration(
        name="remove",
        effect="write",
        idempotent=True,
        polling=True,
        deadline=timedelta(seconds=9),
        path_arguments=("path",),
        command_argument="command",
        handler="human",
    )


def test_the_decorator_works_without_parentheses_and_then_declares_no_effect() -> None:
    @tool
    def function() -> None: ...

    assert declared_of(function) == Declaration(effect=None)


def test_an_undecorated_function_has_no_declaration() -> None:
    def function() -> None: ...

    assert declared_of(function) is None


def test_a_declaration_and_a_spec_have_the_same_defaults() -> None:
    spec, declaration = ToolSpec(name="x"), Declaration()

    for name in ("effect", "idempotent", "polling", "deadline", "path_arguments", "command_argument", "handler"):
        assert getattr(declaration, name) == getattr(spec, name)
