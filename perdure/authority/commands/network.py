"""Programs that talk to other machines: which machine, and which local files they send or write."""

from __future__ import annotations

import re

from perdure.authority.commands.options import table
from perdure.authority.commands.recorder import Handler, Invocation, Shell
from perdure.authority.patterns import UNKNOWN, is_unknown

_CURL = table(
    "-#!flag -0 -1 -2 -3 -4 -6 -a -B -f -g -G -i -I -j -J -k -l -L -M -n!read -N -O -p -q -R -s -S -v -V -Z -A:text"
    " -b:text"
    " -c:write -C:text -d:text -D:write -e:text -E:read -F:text -H:text -K:code -m:text -o:text -P:text -Q:text -r:text"
    " -t:text -T:read -u:text -U:text -w:text -x:text -X:text -y:text -Y:text -z:text --output:text --output-dir:write"
    " --data:text --data-binary:text --data-raw:text --data-urlencode:text --data-ascii:text --form:text --header:text"
    " --request:text --url:text --user:text --user-agent:text --upload-file:read --cookie:text --cookie-jar:write"
    " --dump-header:write --config:code --netrc-file:read --cert:read --key:read --cacert:read --trace:write"
    " --trace-ascii:write --stderr:write --silent --show-error --fail --location --head --include --insecure --verbose"
    " --compressed --max-time:text --connect-timeout:text --retry:text --json:text --get --remote-name --create-dirs"
    " --referer:text --proxy:text --write-out:text --range:text --http1.1 --http2 --fail-with-body --no-progress-meter"
)
_WGET = table(
    "-bcdFhiklmnNpqrSvVxK -o:write -O:text -P:write -a:write -e:code -A:text -D:text -I:text -l:text -R:text -t:text"
    " -T:text"
    " -U:text -w:text -Q:text --output-document:text --output-file:write --directory-prefix:write --execute:code"
    " --post-file:read --body-file:read --post-data:text --header:text --use-askpass:exec --config:code --quiet"
    " --no-check-certificate --user:text --password:text --recursive --mirror --no-verbose --input-file:read --continue"
)
_SSH = table(
    "-46AaCfGgKkMNnqsTtVvXxYy -B:text -b:text -c:text -D:text -E:write -e:text -F:read -I:text -i:read -J:text -L:text"
    " -l:text -m:text -O:text -o:code -p:text -Q:text -R:text -S:text -W:text -w:text"
)
_SCP = table("-346ABCOpqRrTv -c:text -D:text -F:read -i:read -J:text -l:text -o:code -P:text -S:exec -X:text")
_RSYNC = table(
    "-acgHiklLnopPrRstuvVxzAXSCWqhDEJKUN0 -e:exec -f:text -T:write -B:text -M:text --rsh:exec --rsync-path:exec"
    " --delete --delete-after --delete-before --delete-during --delete-excluded --exclude:text --include:text --archive"
    " --verbose --compress --progress --dry-run --recursive --files-from:read --exclude-from:read --include-from:read"
    " --log-file:write --partial-dir:write --backup-dir:write --password-file:read --write-batch:write"
    " --read-batch:read"
    " --stats --human-readable --update --inplace --checksum --remove-source-files --filter:text --out-format:text"
)
_URL = re.compile(r"[a-zA-Z][\w+.-]*://(?:[^/@]*@)?(\[[^]]*]|[^/:?#]*)")
_DATA = ("-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "-H",
"--header", "-b",
         "--cookie", "-w", "--write-out")  # fmt: skip


def _host(word: str) -> str:
    found = _URL.match(word)
    return (found[1] if found else re.split(r"[/:]", word.rpartition("@")[2], maxsplit=1)[0]) or UNKNOWN


def _fetches(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    known = _CURL if call.program == "curl" else _WGET
    line = recorder.take_apart(call, known, scope)
    for operand in (*line.operands, *line.values("--url")):
        if operand.startswith("file://"):
            recorder.read(operand[len("file://") :], call.program, scope)
        else:
            recorder.network(_host(operand), call.program)
    for value in line.values(*_DATA) if call.program == "curl" else ():
        if found := re.search(r"[@<]([^;,]+)", value):
            recorder.read(found[1], call.program, scope)
    named = line.values(*(("-O", "--output-document") if call.program == "wget" else ("-o", "--output")))
    for target in named:
        if target != "-":
            recorder.write(target, call.program, scope)
    if line.has("--remote-name", "-J") or (not named and (call.program == "wget" or line.has("-O"))):
        recorder.write(".", call.program, scope)
    if is_unknown("".join(line.operands)):
        recorder.network(UNKNOWN, call.program)
    recorder.executes(call, scope)


def _ssh(call: Invocation, shell: Shell) -> None:
    """What runs over there is code on another machine; local commands hide in options."""
    line = shell.recorder.take_apart(call, _SSH, shell.scope, stop_at_operand=True)
    shell.recorder.network(_host(line.operands[0]) if line.operands else UNKNOWN, call.program)
    if len(line.operands) > 1:
        shell.recorder.unknown("code", "a command on another machine")
    shell.recorder.executes(call, shell.scope)


def _transfers(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, _RSYNC if call.program == "rsync" else _SCP, scope)
    for position, operand in enumerate(line.operands):
        if re.match(r"[^/]+:", operand):
            recorder.network(_host(operand), call.program)
        elif position == len(line.operands) - 1:
            deletes = any(given.option.name.startswith("--delete") for given in line.given)
            recorder.write(operand, call.program, scope, "delete" if deletes else "write", recursive=True)
        else:
            recorder.read(operand, call.program, scope, "tree")
    recorder.executes(call, scope)


def _connects(call: Invocation, shell: Shell) -> None:
    hosts = [word for word in call.words if not word.startswith("-")]
    shell.recorder.network(_host(hosts[0]) if hosts else UNKNOWN, call.program)
    if any(re.match(r"-\w*[ec]|--(?:exec|sh-exec|lua-exec)|(?:EXEC|SYSTEM):", word) for word in call.words) or (
        call.program == "socat" and any(re.search(r"(?i)\b(?:exec|system|shell):", word) for word in call.words)
    ):
        shell.recorder.unknown("code", f"'{call.program}' runs a command for another machine")
    shell.recorder.executes(call, shell.scope)


NETWORK: dict[str, Handler] = {
    **dict.fromkeys(("curl", "wget"), _fetches),
    **dict.fromkeys(("ssh", "autossh", "mosh", "slogin"), _ssh),
    **dict.fromkeys(("scp", "sftp", "rsync"), _transfers),
    **dict.fromkeys(
        ("nc", "ncat", "netcat", "telnet", "socat", "ftp", "nmap", "ping", "dig", "nslookup", "host"), _connects
    ),
}
