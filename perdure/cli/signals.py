"""Ctrl-C and a request to end while a run is followed, also when a tool holds up the event loop."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def heard(listener: Callable[[signal.Signals], None], farewell: str) -> Iterator[None]:
    """Have the signals that come during the block taken by ``listener``, in the event loop.

    A loop that a tool holds up takes none. A second signal while the first is still untaken therefore ends the process,
    with ``farewell``: handlers that the loop itself calls would leave no way out.
    """
    loop = asyncio.get_running_loop()
    untaken: list[signal.Signals] = []

    def take(number: signal.Signals) -> None:
        untaken.clear()
        listener(number)

    def on_signal(number: int, frame: FrameType | None) -> None:
        if untaken:
            # No print: this may have come in the midst of one.
            os.write(2, f"\nA tool holds the program up: ended at once.\n{farewell}\n".encode(errors="replace"))
            os._exit(128 + number)
        untaken.append(signal.Signals(number))
        loop.call_soon_threadsafe(take, signal.Signals(number))

    before = {number: signal.signal(number, on_signal) for number in NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
