"""``perdure completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

VARIABLE = "_PERDURE_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print a script that lets SHELL complete commands, options, agents, and ids (from a server that answers quickly).

    \b
    Examples:
      eval "$(perdure completion bash)"                                   # in ~/.bashrc
      eval "$(perdure completion zsh)"                                    # in ~/.zshrc, after compinit
      perdure completion fish > ~/.config/fish/completions/perdure.fish
    """
    from perdure.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None, f"click knows no {shell}"
    click.echo(kind(app, {}, "perdure", VARIABLE).source())
    return 0
