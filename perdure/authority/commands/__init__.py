"""Commands, parsed and not searched: what a command line would do, and whether it may.

Rule: what is not understood asks. A command is read by a real grammar, walked as a shell would run it, and told apart
into capabilities; safety rules and the command policy judge those. Nothing here looks at a disk or an environment.
"""

from __future__ import annotations

from perdure.authority.commands.analysis import CommandAnalysis, analyse_command
from perdure.authority.commands.policy import CommandPolicy, judge_capabilities, judge_command, judge_paths

__all__ = [
    "CommandAnalysis",
    "CommandPolicy",
    "analyse_command",
    "judge_capabilities",
    "judge_command",
    "judge_paths",
]
