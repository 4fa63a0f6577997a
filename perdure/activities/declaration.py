"""What a tool's author declares beside its signature: the decorator ``tool``, which only annotates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, overload

from perdure.contracts.tools import Effect, Handler, ToolSpec

F = TypeVar("F", bound=Callable[..., Any])

MARK = "__perdure_tool__"
DEFAULT_DEADLINE: timedelta = ToolSpec.model_fields["deadline"].default


@dataclass(frozen=True, slots=True)
class Declaration:
    """What was declared of a function. Without a decorator nothing is: the effect is unknown, so its calls ask."""

    name: str = ""
    effect: Effect | None = None
    idempotent: bool = False
    polling: bool = False
    deadline: timedelta = DEFAULT_DEADLINE
    path_arguments: tuple[str, ...] = ()
    command_argument: str | None = None
    handler: Handler = "activity"


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    name: str = "",
    effect: Effect | None = None,
    idempotent: bool = False,
    polling: bool = False,
    deadline: timedelta = DEFAULT_DEADLINE,
    path_arguments: tuple[str, ...] = (),
    command_argument: str | None = None,
    handler: Handler = "activity",
) -> Callable[[F], F]: ...


def tool(
    function: F | None = None,
    /,
    *,
    name: str = "",
    effect: Effect | None = None,
    idempotent: bool = False,
    polling: bool = False,
    deadline: timedelta = DEFAULT_DEADLINE,
    path_arguments: tuple[str, ...] = (),
    command_argument: str | None = None,
    handler: Handler = "activity",
) -> F | Callable[[F], F]:
    """Declare a plain typed function as a tool. The function itself stays as it is and can be called as before.

    ``name`` is what the model calls it by; without one it is the function's own. ``effect`` says what it does to the
    world (read, write, execute, network): reads run freely, the rest and whatever is undeclared asks. ``idempotent``
    says that running a call again does no harm: only then is a lost attempt run again. ``polling`` says that the
    same call is made until its result changes: that does not count as repeating itself. ``deadline`` bounds one call.
    ``path_arguments`` names the parameters that are file paths, ``command_argument`` the one that is a shell command.
    A ``handler`` of ``human`` means that a person answers the call and the function never runs.
    """
    declaration = Declaration(
        name=name,
        effect=effect,
        idempotent=idempotent,
        polling=polling,
        deadline=deadline,
        path_arguments=tuple(path_arguments),
        command_argument=command_argument,
        handler=handler,
    )

    def declare(declared: F) -> F:
        setattr(declared, MARK, declaration)
        return declared

    return declare if function is None else declare(function)


def declared_of(function: Callable[..., Any]) -> Declaration | None:
    """What ``tool`` declared of this function, or None for an undecorated one."""
    found = getattr(function, MARK, None)
    return found if isinstance(found, Declaration) else None
