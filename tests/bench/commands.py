"""Measurements of the command analyser: ``python -m tests.bench.commands WHAT [--count N] [--seed N]``.

``fuzz`` judges made-up inputs and reports crashes and times. ``peers`` compares with two other systems' rules on the
corpus. ``bash`` lets a real bash, in an empty folder, run what was allowed, and reports what it ran all the same.
``secrets`` does so with commands that read files, and reports what showed a secret.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from perdure.authority.commands import analyse_command, judge_capabilities, judge_command
from perdure.authority.paths import MachineFacts
from tests.authority.commands.inputs import anything, thrown_together
from tests.authority.corpus.lines import ALWAYS_ASK, FACTS, MUST_ASK, MUST_PASS
from tests.bench.peers import LONG_LIST, SHORT_LIST, cutting_stops, searching_stops
from tests.bench.secrets import secrets

SLOW = 0.050
"""Seconds of processor time that one command may take."""


def seconds(text: str) -> float:
    """The processor time of one judgement; the best of three when the first is slow (a pause of the collector)."""
    best = _timed(text)
    return min(best, _timed(text), _timed(text)) if best > SLOW else best


def _timed(text: str) -> float:
    begin = time.thread_time()
    judge_command(text, FACTS)
    return time.thread_time() - begin


def fuzz(count: int, seed: int) -> str:
    """Judge made-up inputs. Raises what a judgement raises."""
    source = random.Random(seed)
    times, unread, wrong, slow = [], 0, [], []
    for _ in range(count):
        text = anything(source)
        times.append(seconds(text))
        if times[-1] > SLOW:
            slow.append(text)
        analysis = analyse_command(text, FACTS)
        if analysis.problem:
            unread += 1
            if judge_capabilities(analysis.capabilities, FACTS).decision == "allow":
                wrong.append(text)
    times.sort()
    return (
        f"{count} inputs, seed {seed}: 0 crashes; {unread} not parsed, of which {len(wrong)} allowed; "
        f"median {statistics.median(times) * 1e6:.0f} us, 99th percentile {times[int(count * 0.99)] * 1e3:.1f} ms, "
        f"longest {times[-1] * 1e3:.1f} ms, {len(slow)} over {SLOW * 1e3:.0f} ms"
        f"{[text[:60] for text in slow[:5]] or ''}{wrong[:3] or ''}"
    )


def peers() -> str:
    """The corpus, judged by each system, as a table."""
    systems: dict[str, Callable[[str], bool]] = {
        "perdure": lambda text: judge_command(text, FACTS).decision != "allow",
        "text search": searching_stops,
        "cut at operators, 9 names": lambda text: cutting_stops(text, SHORT_LIST),
        "cut at operators, 34 names": lambda text: cutting_stops(text, LONG_LIST),
    }
    lines = [
        "| Rules | missed of always-ask | missed of must-ask | false asks of must-pass | recall | precision |",
        "|---|---|---|---|---|---|",
    ]
    for name, stops in systems.items():
        always = sum(not stops(text) for text in ALWAYS_ASK)
        missed = sum(not stops(text) for text in MUST_ASK)
        false = sum(stops(text) for text in MUST_PASS)
        caught = len(ALWAYS_ASK) + len(MUST_ASK) - always - missed
        recall = caught / (len(ALWAYS_ASK) + len(MUST_ASK))
        precision = caught / max(caught + false, 1)
        lines.append(
            f"| {name} | {always} of {len(ALWAYS_ASK)} | {missed} of {len(MUST_ASK)} | {false} of {len(MUST_PASS)} "
            f"| {recall:.1%} | {precision:.1%} |"
        )
    examples = [(name, stops) for name, stops in systems.items() if name != "perdure"]
    for name, stops in examples:
        missed_texts = [text for text in (*ALWAYS_ASK, *MUST_ASK) if not stops(text)][:400:40]
        false_texts = [text for text in MUST_PASS if stops(text)][:200:20]
        lines.append(f"\n{name} misses, for example: {missed_texts}\n{name} stops without need: {false_texts}")
    return "\n".join(lines)


def bash(count: int, seed: int) -> str:
    """Run what was allowed, of made-up inputs, in a real bash; nothing but harmless stand-ins can be found there."""
    source = random.Random(seed)
    ran, holes = 0, []
    with tempfile.TemporaryDirectory() as place:
        sandbox = Path(place)
        hit, workspace = sandbox / "hit", sandbox / "workspace"
        workspace.mkdir()
        for name, text in {"mark": f": > {hit}", "ls": ":", "cat": ":", "echo": ":"}.items():
            program = sandbox / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        facts = MachineFacts(home=str(workspace), workspace=str(workspace))
        for _ in range(count):
            text = thrown_together(source)
            if "mark" not in text or judge_command(text, facts).decision != "allow":
                continue
            ran += 1
            _run(text, workspace, sandbox / "bin")
            if hit.exists() or any(workspace.iterdir()):
                holes.append(text)
                hit.unlink(missing_ok=True)
                for file in workspace.iterdir():
                    file.unlink()
    return f"{count} inputs, seed {seed}: {ran} allowed and run by bash, {len(holes)} of them did more{holes[:5] or ''}"


def _run(text: str, workspace: Path, programs: Path) -> None:
    command = ["/bin/bash", "-c", text]
    environment = {"PATH": os.fspath(programs), "HOME": os.fspath(workspace)}
    try:
        subprocess.run(
            command, cwd=workspace, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=5
        )
    except (subprocess.TimeoutExpired, ValueError):
        return


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fuzz", "peers", "bash", "secrets"))
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    match chosen.what:
        case "fuzz":
            print(fuzz(chosen.count, chosen.seed))
        case "bash":
            print(bash(chosen.count, chosen.seed))
        case "secrets":
            print(secrets(chosen.count, chosen.seed))
        case _:
            print(peers())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
