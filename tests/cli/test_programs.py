"""Every program of docs/client.md is run as a reader would run it, against a server with a worker."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

from perdure.providers.scripted import Reply
from perdure.testing.script import says
from tests.cli.conftest import AtTerminal, Play
from tests.cli.programs import Home
from tests.servers import DEADLINE, ROOT

TEXT = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^<!-- (\w+\.py) -->\n```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))


def ran(home: Home, at_terminal: AtTerminal, name: str, model: str) -> str:
    """What the program prints, while a worker with that model serves its runs."""
    at_terminal("worker", "--model", model).until("ready")
    address, queue = home.settings["PERDURE_ADDRESS"], home.settings["PERDURE_TASK_QUEUE"]
    program = PROGRAMS[name].replace('"localhost:7233"', f'"{address}", task_queue="{queue}"')
    ended = subprocess.run(
        [sys.executable, "-u", "-c", program],
        env=home.environment(),
        cwd=home.path,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    # Temporal's native library aborts some programs once all is done, as the page says.
    assert ended.returncode in (0, -signal.SIGABRT, -signal.SIGSEGV), ended
    return ended.stdout


def hires(price: str) -> Reply:
    return says(f'[{{"boat": "Anna", "price": {price}}}]')


def test_every_program_is_run_here() -> None:
    assert set(PROGRAMS) == {"attach.py", "typed.py"}
    assert TEXT.count("```python") == len(PROGRAMS)


def test_attachments_go_with_a_start(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    (home.path / "plan.md").write_text("Six hours a day.")

    assert ran(home, at_terminal, "attach.py", play(says("It fits."))) == "It fits.\n"


def test_an_output_is_read_as_its_type(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    assert ran(home, at_terminal, "typed.py", play(hires("NaN"), hires("12.5"))) == "Anna: 12.5\n"


def test_an_output_that_never_fits_is_told_with_the_reason(home: Home, at_terminal: AtTerminal, play: Play) -> None:
    said = ran(home, at_terminal, "typed.py", play(*(hires('"dear"') for _ in range(4))))

    assert said.startswith("invalid_output - Run ")
    assert said.endswith("(asked 4 times): [0].price: 'dear' is not of type 'number'.\n")
