"""The tables of protected files: what holds credentials, what runs on later occasions, what configures the machine.

A pattern is a path of name patterns (``*`` within one name). ``/`` in front anchors it at the root; otherwise it
counts wherever it stands, in anybody's home and in any project. ``/**`` at its end covers everything below.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache

from perdure.authority.patterns import TREE, UNKNOWN, folded, is_literal, is_unknown, meets, points_at, rule_pattern

CREDENTIALS = (
    # Environment files of projects.
    ".env", ".env.*", "*.env", ".envrc",
    # Keys.
    ".ssh/**", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk",
    "*.keystore", "*.jks", "*.kdbx", ".gnupg/**", "/etc/ssh/ssh_host_*", "/etc/ssl/private/**", "/etc/krb5.keytab",
    "*.keytab",
    # Cloud tools.
    ".aws/**", ".azure/**", ".config/gcloud/**", ".oci/**", ".kube/**", "kubeconfig", ".boto", ".s3cfg",
    ".terraformrc", ".terraform.d/**", "terraform.tfstate*", ".config/rclone/**", ".databrickscfg", ".snowsql/**",
    ".fly/config.yml", "service-account*.json", "client_secret*.json", "credentials.json", ".vault-token",
    ".config/doctl/**",
    # Developer tools.
    ".docker/config.json", ".dockercfg", ".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml",
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".cargo/credentials*", ".gem/credentials", ".m2/settings.xml",
    ".composer/auth.json", ".gradle/gradle.properties", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd",
    ".config/hub", ".subversion/auth/**", "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml",
    # Password stores.
    ".password-store/**", ".local/share/keyrings/**", ".config/op/**", "library/keychains/**", ".config/bitwarden/**",
    # Shell history.
    ".*_history", "fish_history", ".lesshst", ".viminfo",
    # Browsers.
    ".mozilla/**", ".config/google-chrome/**", ".config/chromium/**", ".config/bravesoftware/**", "login data",
    "cookies", "cookies.sqlite", "key4.db", "logins.json", "library/application support/google/chrome/**",
    "library/application support/firefox/**", "library/safari/**",
    # Password files of the machine, and places where secrets are mounted.
    "/etc/passwd*", "/etc/shadow*", "/etc/gshadow*", "/etc/master.passwd", "/etc/sudoers", "/etc/sudoers.d/**",
    "/etc/security/opasswd", "/proc/*/environ", "/run/secrets/**", "/var/run/secrets/**",
)  # fmt: skip
PUBLIC = ("*.pub", "known_hosts", "known_hosts.old", "*.example", "*.sample", "*.template", "*.dist", "*.defaults",
          "example.env", "sample.env", "template.env", "*.pub.pem", "public*.pem")  # fmt: skip
"""Names that hold nothing secret although a pattern above fits."""

STARTUP = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".inputrc", ".xinitrc", ".xsession",
    ".xprofile", ".pam_environment", ".config/fish/**", ".config/autostart/**", ".config/systemd/**",
    ".config/environment.d/**", "library/launchagents/**", "library/launchdaemons/**", ".ssh/authorized_keys*",
    ".ssh/config", ".ssh/rc", ".git/config", ".git/hooks/**", ".gitconfig", ".config/git/**", ".gitmodules", ".vimrc",
    ".config/nvim/**", ".emacs", ".emacs.d/**", ".gdbinit", ".lldbinit", ".pythonrc", ".rprofile", ".irbrc",
    ".psqlrc", ".screenrc", ".tmux.conf", "/etc/profile", "/etc/profile.d/**", "/etc/bash.bashrc",
    "/var/spool/cron/**",
)  # fmt: skip
CONTROL = (
    ".perdure/**", "perdure.toml", "perdure.yaml", "perdure.yml", "perdure.json", ".config/perdure/**",
    ".local/share/perdure/**", ".local/state/perdure/**", "library/application support/perdure/**",
)  # fmt: skip
SYSTEM = ("/etc/**", "/usr/**", "/bin/**", "/sbin/**", "/lib*/**", "/boot/**", "/opt/**", "/var/**", "/system/**",
          "/library/**", "/applications/**", "/private/etc/**", "/private/var/**", "/root/**")  # fmt: skip
SCRATCH = ("/var/tmp/**", "/var/folders/**", "/private/var/folders/**", "/private/tmp/**")
SSH_SERVER = ("/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/**")
RAW_DISKS = tuple(
    f"/dev/{name}*" for name in ("sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk", "dm-", "md", "loop")
)
HARMLESS_DEVICE = re.compile(r"/dev/(?:null|zero|u?random|full|tty|std(?:in|out|err)|fd/\d+)\Z")
"""Device files that hold nothing and keep nothing."""

MEMORY_DEVICES = ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/proc/kmem", "/proc/*/mem")
KERNEL = ("/proc/**", "/sys/**")
CONTAINER_SOCKETS = ("docker.sock", "containerd.sock", "podman.sock", "crio.sock")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One compiled pattern."""

    names: tuple[str, ...]
    anchored: bool
    below: bool

    def covers(self, names: tuple[str, ...]) -> bool:
        """Whether a path of these names may be one that the pattern means."""
        size = len(self.names)
        if self.anchored:
            starts: tuple[int, ...] = (0,) if len(names) == size or (self.below and len(names) > size) else ()
        elif self.below:
            starts = tuple(range(len(names) - size + 1))
        else:
            starts = (len(names) - size,) if len(names) >= size else ()
        return any(self._fits(names[start : start + size]) for start in starts)

    def _fits(self, names: tuple[str, ...]) -> bool:
        if not all(map(meets, names, self.names)):
            return False
        return any(TREE not in name and points_at(name, rule) for name, rule in zip(names, self.names, strict=True))


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> tuple[_Pattern, ...]:
    """Compile a table."""
    found = []
    for text in map(folded, patterns):
        below = text.endswith("/**")
        names = tuple(rule_pattern(name) for name in text.removesuffix("/**").strip("/").split("/"))
        found.append(_Pattern(names, text.startswith("/"), below))
    return tuple(found)


@lru_cache(maxsize=256)
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """The table as one expression, for paths that are fully known."""
    anchored: list[str] = []
    floating: list[str] = []
    for text in map(folded, patterns):
        below = text.endswith("/**")
        names = re.escape(text.removesuffix("/**").strip("/")).replace(r"\*", "[^/]*") + ("(?:/|$)" if below else "$")
        (anchored if text.startswith("/") else floating).append(names)
    heads = {"^/": anchored, "/": floating}
    return re.compile("|".join(f"{head}(?:{'|'.join(names)})" for head, names in heads.items() if names))


@lru_cache(maxsize=4096)
def covered(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path may be one that the table means."""
    if is_literal(path):
        return _expression(patterns).search("/" + "/".join(_names_of(path))) is not None
    names, rooted = _names_of(path), path.startswith("/")
    return any(pattern.covers(names) for pattern in _compiled(patterns) if rooted or not pattern.anchored)


@lru_cache(maxsize=4096)
def _names_of(path: str) -> tuple[str, ...]:
    """The path's names as a file system without case would compare them; ``..`` after an unknown part is dropped."""
    names = []
    for name in folded(path).split("/"):
        if name and name not in (".", ".."):
            names.append(UNKNOWN if name.strip(UNKNOWN) == "" else name)
    return tuple(names)


@lru_cache(maxsize=4096)
def holds_credentials(path: str) -> bool:
    """Whether a file of this path may hold credentials; what is public by its name does not."""
    name = posixpath.basename(folded(path))
    return covered(path, CREDENTIALS) and not any(_is_surely(name, public) for public in PUBLIC)


def _is_surely(name: str, public: str) -> bool:
    if public.startswith("*"):
        return name.endswith(public[1:]) and not is_unknown(name[-len(public) + 1 :])
    if "*" in public:
        head, _, tail = public.partition("*")
        return is_literal(name) and name.startswith(head) and name.endswith(tail)
    return name == public


def encloses_credentials(path: str, home: str) -> bool:
    """Whether a whole tree that starts here holds places where credentials always are: a home, or the machine's."""
    start = folded(path).rstrip("/") + "/"
    places = [
        f"{folded(home)}/{pattern}" for pattern in CREDENTIALS if pattern.startswith(".") and pattern.endswith("/**")
    ]
    places += [pattern for pattern in CREDENTIALS if pattern.startswith("/")]
    return any(place.startswith(start) for place in places) or start in ("/home/", "/users/", "/root/")
