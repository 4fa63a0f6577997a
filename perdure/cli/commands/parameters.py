"""Parameters that several commands share."""

from __future__ import annotations

import re

import click

LONGEST_ID = 255


class RunId(click.ParamType[str]):
    """The id of a run: visible characters without blanks, as anybody may choose them for a Temporal workflow."""

    name = "run id"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id as it is. Fails for one that no run can have."""
        if not re.fullmatch(r"[^\s\x00-\x1f\x7f-\x9f]+", value) or len(value) > LONGEST_ID:
            shown = repr(value) if len(value) <= 60 else f"{value[:60]!r}…"
            self.fail(
                f"{shown} is no run id: 1 to {LONGEST_ID} characters without blanks. `perdure ls` lists the runs."
            )
        return value


RUN_ID = RunId()

run_id_argument = click.argument("run_id", type=RUN_ID)
tools_option = click.option(
    "--tools",
    multiple=True,
    metavar="PATH",
    help="Tools to serve: file.py, file.py:function or module:function. Can be repeated.",
)
