"""Developer tools of which some subcommands only read: package managers, container tools, compilers."""

from __future__ import annotations

import re

from perdure.authority.commands.recorder import Handler, Invocation, Shell
from perdure.authority.patterns import is_literal

_READ_SUBCOMMANDS = {
    "npm": r"(?:ls|list|ll|root|prefix|bin|explain|why|help|pkg get|config get registry)\b",
    "pnpm": r"(?:ls|list|ll|why|root|bin|licenses list)\b",
    "yarn": r"(?:list|why|licenses list)\b",
    "pip": r"(?:list|show|freeze|check|help|debug|inspect)\b",
    "uv": r"(?:pip (?:list|show|freeze|check|tree)|tree|version|python list)\b",
    "poetry": r"(?:show|check|env info|env list|version\Z|about)\b",
    "conda": r"(?:list|info|env list)\b",
    "cargo": r"(?:tree|metadata|locate-project|pkgid|help|version)\b",
    "rustup": r"(?:show|toolchain list|target list|component list)\b",
    "go": r"(?:version|env|list|help)\b",
    "gem": r"(?:list|info|environment|which)\b",
    "bundle": r"(?:list|info|show|check)\b",
    "composer": r"(?:show|licenses)\b",
    "brew": r"(?:list|info|deps|leaves|config)\b",
    "docker": r"(?:ps|images|version|info|(?:container|image|volume|network|context) ls|image history|history|top"
              r"|port|diff"
              r"|stats --no-stream|compose ps|compose ls|compose images|system df)\b",
    "podman": r"(?:ps|images|version|info|(?:container|image|volume|network) ls|history|top|port|diff|system df)\b",
    "kubectl": r"(?:version --client|config (?:current-context|get-contexts|get-clusters)|api-resources|api-versions"
               r"|explain)\b",
    "helm": r"(?:version|list|ls|history|status|repo list)\b",
    "terraform": r"(?:version|providers|workspace (?:list|show)|state list)\b",
    "dotnet": r"(?:--info|--list-sdks|--list-runtimes|list package)",
    "apt": r"(?:list|show|policy|depends|rdepends)\b",
    "apt-cache": r"(?:show|search|policy|depends|rdepends|madison|stats)\b",
    "dpkg": r"(?:-l|-L|-s|-S|--list|--listfiles|--status|--search|--print-architecture)\b",
    "rpm": r"-q[ailfcdR]*\b",
    "systemctl": r"(?:status|is-active|is-enabled|is-failed|list-\S+|show|--version)\b",
    "gh": r"(?:--version|version)\b",
    "make": r"(?:--version|-v)\Z",
    "lsof": r"-i(?::\d+|\w*)*\b",
    "ss": r"-[tulnpas46]+\Z",
    "netstat": r"-[tulnpar46]+\Z",
    "free": r"(?:-[bkmght]+)?\Z",
    "vmstat": r"\Z",
    "lscpu": r"\Z",
    "lsblk": r"(?:-[abdfimnopstl]+)?\Z",
    "pgrep": r"[\w -]+\Z",
    "man": r"\Z.",
}  # fmt: skip
_EMPTY_OK = frozenset(("free", "vmstat", "lscpu", "lsblk"))
_RISK = re.compile(
    r"--(?:global-style|userconfig|globalconfig|prefix|cache|script-shell|node-options|config|manifest-path"
    r"|target-dir|toolexec"
    r"|exec|host|context|kubeconfig|tlskey|filter-by|format=.*\.Env|hosts|output|log|python|cwd|dir|directory"
    r"|project|C|mod"
    r"|modfile|overlay|proxy|index-url|extra-index-url|cert|client-cert|find-links|outdated|w|u|unset|write)(?:=|\Z)"
    r"|-[wuHCf]\Z|-toolexec|-w="
)
_VERSION_ONLY = frozenset(
    (
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "pip",
        "pip3",
        "uv",
        "uvx",
        "poetry",
        "pipx",
        "conda",
        "cargo",
        "rustc",
        "rustup",
        "gcc",
        "g++",
        "clang",
        "cc",
        "c++",
        "cmake",
        "make",
        "ninja",
        "java",
        "javac",
        "mvn",
        "gradle",
        "git",
        "docker",
        "kubectl",
        "helm",
        "terraform",
        "gh",
        "aws",
        "gcloud",
        "az",
        "ruff",
        "mypy",
        "pytest",
        "black",
        "eslint",
        "prettier",
        "tsc",
        "gem",
        "bundle",
        "composer",
        "dotnet",
        "brew",
        "bash",
        "curl",
        "wget",
        "jq",
        "ffmpeg",
        "sqlite3",
        "psql",
        "go",
        "tox",
        "docker-compose",
        "podman",
        "vim",
        "nvim",
        "code",
        "rsync",
        "ssh",
        "tar",
        "sort",
        "awk",
        "sed",
        "nox",
        "hatch",
        "flit",
    )
)
_SHORT_VERSION = frozenset(("pip", "pip3", "rustc", "cargo", "poetry", "curl", "wget", "ssh"))
_PS = re.compile(r"(?:[auxwfl]+|-[AdefFlLwTjHax]+|--forest|--no-headers|--sort=[\w,+-]+|-[pCuUqo][\w,=%]*|[\w,%=-]+)\Z")


def _ps(call: Invocation, shell: Shell) -> None:
    """``ps`` with the BSD letter ``e`` shows the environment of every process, secrets included."""
    before = ""
    harmless = is_literal("".join(call.words))
    for word in call.words:
        value = re.match(r"-[pCuUqo]\Z", before) is not None
        plain = re.match(r"[auxwfl]+\Z|\d+\Z|-", word) is not None
        harmless = harmless and bool(_PS.match(word)) and "env" not in word and (value or plain)
        before = word
    if harmless:
        shell.recorder.executes_freely(call)
    else:
        shell.recorder.executes(call, shell.scope)


def _subcommands(call: Invocation, shell: Shell) -> None:
    text = " ".join(call.words)
    name = "pip" if call.program.startswith("pip") else call.program
    known = re.match(_READ_SUBCOMMANDS[name], text) if name in _READ_SUBCOMMANDS else None
    safe = known is not None and is_literal(text) and not any(_RISK.match(word) for word in call.words)
    if safe and (call.words or name in _EMPTY_OK):
        shell.recorder.executes_freely(call)
    else:
        shell.recorder.executes(call, shell.scope)


def is_version_query(call: Invocation) -> bool:
    """Whether a well-known program is only asked for its version."""
    known = call.program in _VERSION_ONLY
    return known and (call.words == ("--version",) or (call.words == ("-V",) and call.program in _SHORT_VERSION))


DEVELOPER: dict[str, Handler] = {
    **dict.fromkeys(_VERSION_ONLY, _subcommands),
    **dict.fromkeys((*_READ_SUBCOMMANDS, "pip3"), _subcommands),
    "ps": _ps,
}
