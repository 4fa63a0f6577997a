"""The corpus: commands from everyday work, by what must be said of them."""

from __future__ import annotations

from pathlib import Path

from perdure.authority.paths import MachineFacts

FACTS = MachineFacts(
    home="/home/u", workspace="/home/u/work", user="u", control_paths=("/home/u/work/agents", "/home/u/.local/blobs")
)
LINE_BREAK = "␤"


def commands(name: str) -> tuple[str, ...]:
    """The commands of one file of the corpus."""
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(
        line.replace(LINE_BREAK, "\n") for line in text.splitlines() if line.strip() and not line.startswith("# ")
    )


MUST_PASS = commands("must_pass")
MUST_ASK = commands("must_ask")
ALWAYS_ASK = commands("always_ask")
