"""Every program that is known, by its bare name. A program that is not here asks."""

from __future__ import annotations

from perdure.authority.commands.archives import ARCHIVES
from perdure.authority.commands.builtins import BUILTINS
from perdure.authority.commands.developer import DEVELOPER
from perdure.authority.commands.filters import FILTERS
from perdure.authority.commands.git import git
from perdure.authority.commands.interpreters import INTERPRETERS, unversioned
from perdure.authority.commands.network import NETWORK
from perdure.authority.commands.readers import READERS, read_only
from perdure.authority.commands.recorder import Handler
from perdure.authority.commands.search import SEARCHERS
from perdure.authority.commands.wrappers import WRAPPERS
from perdure.authority.commands.writers import WRITERS

_HANDLERS: dict[str, Handler] = {
    **DEVELOPER,
    **dict.fromkeys(READERS, read_only),
    **WRITERS,
    **NETWORK,
    **ARCHIVES,
    **INTERPRETERS,
    **WRAPPERS,
    **SEARCHERS,
    **FILTERS,
    **BUILTINS,
    "git": git,
}


def handler_of(program: str) -> Handler | None:
    """What the program of that bare name does; None for one that is not known."""
    return _HANDLERS.get(program) or _HANDLERS.get(unversioned(program))
