"""The tables of programs that safety rules know, with the arguments that make them harmless or harmful."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.authority.capabilities import ExecArgv
from perdure.authority.patterns import shown


@dataclass(frozen=True, slots=True)
class ProgramRule:
    """A family of programs. The arguments, joined by blanks, must match ``when`` and not match ``unless``."""

    programs: re.Pattern[str]
    when: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None


def _rule(programs: str, when: str = "", unless: str = "") -> ProgramRule:
    return ProgramRule(
        re.compile(rf"(?:{programs})\Z"), re.compile(when) if when else None, re.compile(unless) if unless else None
    )


_HELP = r"(?:\A|.* )(?:--help|--version|-h|-V)\Z"
_UNITS = r"(?:status|is-\S+|list-\S+|show|cat|help|--version|show-environment)\b"

PROGRAM_RULES: dict[str, tuple[ProgramRule, ...]] = {
    "disk": (
        _rule(r"mkfs(?:\..+)?|mke2fs|mkswap|newfs\S*|format|wipefs|sgdisk|sfdisk|cfdisk|partprobe|blkdiscard",
        unless=_HELP),
        _rule(r"fdisk|gdisk", unless=rf"(?:-l\b|--list\b|{_HELP})"),
        _rule(r"parted", unless=rf"(?:-l\b|--list\b|.* print\Z|{_HELP})"),
        _rule(r"diskutil", when=r"(?:erase|partition|zero|secureErase|reformat|apfs delete)"),
        _rule(r"mount", when=r"."),
        _rule(r"umount|swapon|swapoff|losetup|cryptsetup|lvcreate|lvremove|vgremove|pvremove|mdadm|zpool|zfs|hdparm",
        unless=_HELP),
        _rule(r"badblocks|e2fsck|fsck(?:\..+)?|resize2fs|tune2fs|debugfs", unless=_HELP),
    ),
    "kernel": (
        _rule(r"insmod|rmmod|modprobe|kexec|depmod|dkms|kmod", unless=_HELP),
        _rule(r"sysctl", when=r"(?:-w\b|--write\b|-p\b|--system\b|\S+=)"),
        _rule(r"setenforce|bpftool|perf", unless=_HELP),
    ),
    "firewall": (
        _rule(r"ufw", unless=r"(?:status|show|version|--version|app list|\Z)"),
        _rule(r"ip6?tables(?:-restore|-apply)?", unless=r"(?:-t \S+ )?(?:-[nvx]+ )*(?:-[LS]|--list|--version|-h)"),
        _rule(r"nft", unless=r"(?:-\w+ )?(?:list|--version)"),
        _rule(r"firewall-cmd", unless=r"--(?:state|list-\S+|get-\S+|query-\S+|version)\S*\Z"),
        _rule(r"pfctl|ipfw|ebtables|arptables|ipset|netsh", unless=_HELP),
        _rule(r"systemctl|service", when=r".*\b(?:firewalld|ufw|iptables|nftables)\b", unless=_UNITS),
    ),
    "ssh-server": (_rule(r"systemctl|service", when=r".*\bsshd?\b", unless=_UNITS), _rule(r"sshd|ssh-copy-id",
    unless=_HELP)),
    "privilege": (
        _rule(r"sudo|sudoedit|su|doas|pkexec|runuser|gosu|su-exec|setpriv|capsh|chpst|nsenter|chroot|visudo|vipw|unshare"),
        _rule(r"setcap|passwd|chpasswd|chsh|chfn|newgrp|gpasswd|user(?:add|del|mod)|group(?:add|del|mod)|adduser|deluser"),
        _rule(r"addgroup|delgroup|setfacl|chattr|dscl|security", unless=_HELP),
        _rule(r"chmod|install", when=r"(?:.* )?(?:-m ?)?(?:0?[2-7][0-7]{3}|[ugoa,+=rwx-]*[+=][rwxXt]*s\S*)(?: |\Z)"),
        _rule(r"docker|podman",
        when=r".*(?:--privileged|--cap-add|--pid[= ]host|-v /:|--volume[= ]/:|source=/,|src=/,)"),
    ),
    "system-packages": (
        _rule(r"apt|apt-get|aptitude",
        unless=r"(?:list|show|search|policy|depends|rdepends|--version|-v\b|help|changelog|download)\b"),
        _rule(r"dnf|yum|microdnf|zypper|tdnf",
        unless=r"(?:list|info|search|repolist|provides|history|--version|se\b|if\b|lr\b)\b"),
        _rule(r"dpkg", unless=r"(?:-[lLsSI]|--list|--status|--search|--print|--get-selections|--version)"),
        _rule(r"rpm", unless=r"(?:-q|--query|--version|-V)"),
        _rule(r"pacman", unless=r"-(?:Q|Ss|Si|Sl|V|F)"),
        _rule(r"apk", unless=r"(?:info|list|search|version|policy)\b"),
        _rule(r"snap|flatpak|nix-env|emerge|xbps-\S+|eopkg|pkg|port",
        unless=r"(?:list|info|find|search|--version|-q|history)\b"),
    ),
    "startup": (
        _rule(r"crontab", unless=r"-l\Z"),
        _rule(r"at|batch|launchctl|chkconfig|update-rc\.d|rc-update", unless=r"(?:-l|list|show)\Z"),
    ),
    "system-configuration": (
        _rule(r"systemctl|loginctl|timedatectl|hostnamectl|localectl",
        unless=rf"(?:{_UNITS}|--user (?:status|list)|\Z)"),
        _rule(r"service", unless=r"(?:\S+ status|--status-all)"),
        _rule(r"shutdown|reboot|poweroff|halt|telinit|init", unless=_HELP),
        _rule(r"update-alternatives|ldconfig|locale-gen|dpkg-reconfigure|update-grub", unless=_HELP),
        _rule(r"grub-\S+|netplan|nmcli|ifconfig", unless=_HELP),
        _rule(r"ip", when=r".*\b(?:add|del|set|flush|replace|change)\b"),
        _rule(r"route", when=r"(?:add|del)"),
        _rule(r"hostname", when=r"[^-]"),
        _rule(r"date", when=r"(?:.* )?(?:-s|--set)"),
        _rule(r"defaults", when=r"(?:write|delete)"),
        _rule(r"csrutil|nvram|bless|spctl|scutil|networksetup|systemsetup", unless=_HELP),
    ),
}  # fmt: skip


def match_program(family: str, ran: ExecArgv) -> bool:
    """Whether the program with these arguments belongs to a family. Free programs never do."""
    if ran.free:
        return False
    name = ran.program.rsplit("/", 1)[-1]
    arguments = shown(" ".join(ran.argv[1:]))
    for rule in PROGRAM_RULES[family]:
        if rule.programs.match(name):
            wanted = rule.when is None or rule.when.match(arguments) is not None
            if wanted and not (rule.unless is not None and rule.unless.match(arguments)):
                return True
    return False
