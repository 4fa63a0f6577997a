"""``perdure run``."""

from __future__ import annotations

from typing import cast

import click

from perdure.cli.commands.parameters import NEW_RUN_ID, offer_agents, tools_option


@click.command()
@click.argument("task")
@click.option(
    "--agent",
    default="assistant",
    show_default=True,
    metavar="NAME",
    help="Agent by name, or a .md file.",
    shell_complete=offer_agents,
)
@click.option("--model", metavar="PROVIDER:MODEL", help="Model, for example openai:gpt-5-mini or demo:demo.")
@click.option(
    "--fallback", "fallbacks", multiple=True, metavar="PROVIDER:MODEL", help="Model to ask when that one fails."
)
@tools_option
@click.option(
    "--attach",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="File or address to send with the task; repeatable.",
)
@click.option(
    "--output", "output_schema", type=click.Path(), metavar="SCHEMA.json", help="JSON Schema that the output must fit."
)
@click.option("--workspace", metavar="DIR", help="Folder that file tools and commands work in. Default: this one.")
@click.option("--run-id", type=NEW_RUN_ID, metavar="ID", help="Id of the run. Default: a new one.")
@click.option("--join", is_flag=True, help="Follow the run of that id when it is running already.")
@click.option(
    "--steps", type=click.IntRange(1, 10_000), metavar="N", help="Steps of a turn at most; the last must answer."
)
@click.option(
    "--mode",
    type=click.Choice(["manual", "auto"]),
    default="manual",
    show_default=True,
    help="auto: what would ask runs, but for always_ask and safety rules.",
)
@click.option("--no-human", is_flag=True, help="Nobody can be asked: what would ask is denied, and the model is told.")
@click.option("--conversation", is_flag=True, help="Rest after each turn and take further messages.")
@click.option("--yes", is_flag=True, help="Approve what policy asks. Safety rules still wait for a person.")
@click.option("--json", "as_json", is_flag=True, help="Write one event per line as JSON; everything else to stderr.")
def run(
    task: str,
    agent: str,
    model: str | None,
    fallbacks: tuple[str, ...],
    tools: tuple[str, ...],
    attach: tuple[str, ...],
    output_schema: str | None,
    workspace: str | None,
    run_id: str | None,
    join: bool,
    steps: int | None,
    mode: str,
    no_human: bool,
    conversation: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Run an agent on TASK and follow it to its end ("-" reads TASK from stdin).

    Uses the Temporal server of PERDURE_ADDRESS, or one on this machine, started when needed; this process is the
    worker. The model is the one named, else one whose key is set, else one that a server on this machine serves
    (Ollama, LM Studio, llama.cpp, vLLM), else the demo model; the first line says which, and why.

    At a terminal it asks you what has to be approved. Without one it prints how to approve, and exits with 4; the run
    is kept, and `perdure follow ID` takes it up again, after a crash too.

    Ctrl-C interrupts the turn: what was written is kept. Ctrl-C again leaves the run as it is, to be taken up later; so
    does the first one while the run only waits for you.

    \b
    Examples:
      perdure run "Summarise the files of this folder into SUMMARY.md"
      perdure run "Which of these are due?" --tools due.py --workspace ~/notes
      perdure run "Tidy up" --agent gardener --yes --steps 20
      perdure run "What is new?" --json | jq -r 'select(.kind == "run_closed").output'
      perdure run "Add up" --output sum.json --json | jq 'select(.kind == "run_closed").data'
      git diff | perdure run - --agent reviewer
      perdure run "What does this plan say?" --attach plan.pdf

    \b
    Exit codes:
      0 output   1 failed   2 wrong usage   3 no server or model   4 waits for a human   130 interrupted
    """
    from perdure.cli.session import perform
    from perdure.cli.start import RunOptions, run_task
    from perdure.cli.streams import read_input
    from perdure.contracts.agent import Mode

    options = RunOptions(
        task=read_input() if task == "-" else task,
        agent=agent,
        model=model,
        fallbacks=fallbacks,
        tools=tools,
        attachments=attach,
        output_schema=output_schema,
        workspace=workspace,
        run_id=run_id,
        join=join,
        steps=steps,
        mode=cast(Mode, mode),
        humans="none" if no_human else "available",
        conversation=conversation,
        yes=yes,
        as_json=as_json,
    )
    return perform(run_task(options))
