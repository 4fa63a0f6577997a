"""Two comparable systems' rules for commands, as their behaviour is described, to be run on the same corpus.

The first searches the command's text with a list of patterns and stops what matches. The second cuts the text at
operators without regard to quotes and stops every command name that is not on a list.
"""

from __future__ import annotations

import re

_SEARCHED = tuple(
    re.compile(pattern)
    for pattern in (
        # Recursive delete of a home folder; of something that ends in a slash; forced recursive delete of ~, . or /.
        r"rm.*-r.*(?:~|\$HOME|/Users/[^/\s]+|/home/[^/\s]+)/?\s*$",
        r"rm.*-r.*/\s*(?:$|[;&|])",
        r"rm\s+-rf\s+[~./]\s*$",
        # Password files, sudoers, fork bomb.
        r"/etc/(?:passwd|shadow)",
        r"/etc/sudoers",
        r":\(\)\s*\{.*:\|:.*\}",
        # Raw disks, formatting.
        r"dd.*of=/dev/(?:sd|hd|nvme)",
        r"(?:mkfs|fdisk|parted)\S*\s+(?:.*\s)?/",
        # Firewall, sshd, packages, kernel, memory.
        r"ufw\s+disable|iptables\s+-F|systemctl\s+stop\s+firewalld",
        r"(?:vim?|nano|emacs|code|cat|less).*/etc/ssh/sshd_config",
        r"(?:apt|yum|dnf)\s+(?:remove|purge|erase).*(?:bash|kernel|systemd|glibc)",
        r">/proc/sys/",
        r"/dev/(?:mem|kmem|port)",
        # Recursive chown of system folders, set-user-id shells.
        r"chown\s+-R.*(?:/etc|/usr|/bin|/sbin|/var|~|/home)",
        r"chmod.*(?:4755|u\+s).*(?:sh|bash|python|perl|ruby|node)",
        # Files with credentials, behind a viewer.
        r"(?:cat|less|more|head|tail|vim|nano|vi|emacs|code)\s+.*\.env",
        r"(?:cat|less|more|head|tail|vim|nano|vi|emacs|code)\s+.*\.ssh/id_\w+(?!\.pub)\s*$",
        r"(?:cat|less|more|head|tail|vim|nano|vi|emacs|code)\s+.*~/\.(?:aws/credentials|docker/config\.json|kube/config|npmrc)",
        r"(?:cat|less|more|head|tail|vim|nano|vi|emacs|code)\s+.*~/\.git-credentials",
        r"(?:cat|less|more|head|tail|vim|nano|vi|emacs|code)\s+.*\.(?:bash|zsh)_history",
        r"(?:cat|less|more|head|tail|vim|nano|vi|emacs|code)\s+.*(?:Cookies|Login Data)",
    )
)
SHORT_LIST = frozenset(("cat", "date", "echo", "grep", "jq", "ls", "pwd", "yq", "whoami"))
"""The second system's documented default."""

LONG_LIST = SHORT_LIST | frozenset(
    (
        "awk",
        "env",
        "find",
        "printenv",
        "sort",
        "tree",
        "head",
        "tail",
        "wc",
        "cut",
        "uniq",
        "which",
        "file",
        "stat",
        "du",
        "df",
        "basename",
        "dirname",
        "realpath",
        "diff",
        "tr",
        "uname",
        "hostname",
        "id",
        "rg",
    )
)
"""Its later default of 34 names: the fifteen that its description gives, filled up with the plainest readers."""

_CUTS = re.compile(r"\|\||&&|[;|\n`&()]|\$\(")
_LAUNCHERS = frozenset(("sudo", "env", "time", "command"))


def searching_stops(text: str) -> bool:
    """Whether the first system stops the command."""
    return any(pattern.search(text) for pattern in _SEARCHED)


def cutting_stops(text: str, allowed: frozenset[str]) -> bool:
    """Whether the second system stops the command."""
    return not set(_names(text)) <= allowed


def _names(text: str) -> list[str]:
    names = []
    for piece in _CUTS.split(text):
        tokens = [token for token in piece.split() if not re.match(r"[A-Za-z_]\w*=", token)]
        names += [token.strip("'\"").lower() for token in tokens[:1]]
        if tokens and tokens[0].lower() in _LAUNCHERS:
            names += [token.strip("'\"").lower() for token in tokens[1:2]]
    return [name for name in names if name]
