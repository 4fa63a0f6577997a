"""Where a test describes another run than the one that happened: in its script, or in what people say and when.

The trap: a script that is too short ends the run as a failing provider would, and of one that is too long a part is
played as if that were all. A test that does not look at the status would pass with either.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.contracts.state import State
from perdure.providers.scripted import ScriptedProvider
from perdure.testing.orders import Planned
from perdure.testing.record import shown


def mismatch(state: State, provider: ScriptedProvider, planned: Sequence[Planned], *, partly: bool) -> str:
    """What the test says otherwise than the run went, with the transcript; empty when all came as it says.

    ``partly``: replies may be left.
    """
    replies = len(provider.script.replies)
    left = [] if partly else provider.left
    if provider.missed:
        what = f"the model was asked for reply {provider.missed}, and the script has {replies}"
    elif planned:
        what = "\n".join(("these moments never came:", *(f"- {order}" for order in planned)))
    elif left:
        numbers = ", ".join(map(str, left))
        what = f"of the {replies} replies of its script, these were never asked for: {numbers} (partly=True allows it)"
    else:
        return ""
    why = f" ({state.failure.message})" if state.failure and not provider.missed else ""
    return f"The run is {state.status}{why}, and {what}.\nIts transcript:\n{shown(state.messages)}"
