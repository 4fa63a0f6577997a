"""The read-only programs: for each its options, and what it does with its operands.

One line a program: ``names | options | operands | options that make it read whole trees``. Operands are ``read``
(content), ``meta`` (that it exists, its size), ``write``, ``text`` (data), one for each position, the last one for all
that follow. An option that is not listed makes the call ask: the safe options are listed, never the dangerous ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from perdure.authority.capabilities import Extent
from perdure.authority.commands.options import Line, Table, table
from perdure.authority.commands.recorder import Invocation, Recorder, Shell
from perdure.authority.commands.words import Scope
from perdure.authority.patterns import STAR

_TABLE = r"""
cat | -AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank | read
tac | -br -s:text --before --regex --separator:text | read
nl | -p -b:text -d:text -f:text -h:text -i:text -l:text -n:text -s:text -v:text -w:text | read
rev | | read
head | -qvz -c:text -n:text -# --lines:text --bytes:text --quiet --silent --verbose --zero-terminated | read
tail | -qvzfFr -c:text -n:text -s:text -# --lines:text --bytes:text --follow?text --retry --pid:text --quiet | read
wc | -cmlLw --bytes --chars --lines --words --max-line-length --total:text --files0-from:read | read
ls dir vdir | -aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I:text -T:text -w:text --all --almost-all --color?text
 --format:text --sort:text --time:text --time-style:text --human-readable --directory --recursive --reverse --size
 --inode --group-directories-first --classify?text --indicator-style:text --hide:text --ignore:text --full-time --si
 --author --escape --file-type --literal --quote-name --no-group --numeric-uid-gid --dereference --zero
 --block-size:text --width:text | meta
sort | -bcCdfghiMmnrRsuVz -k:text -S:text -t:text -o:write -T:risk --output:write --key:text --field-separator:text
 --numeric-sort --reverse --unique --human-numeric-sort --version-sort --stable --ignore-case --check?text --merge
 --ignore-leading-blanks --general-numeric-sort --month-sort --zero-terminated --random-sort --sort:text
 --parallel:text --buffer-size:text --compress-program:exec --files0-from:risk --random-source:read
 --temporary-directory:risk | read
uniq | -cdDiuz -f:text -s:text -w:text --count --repeated --unique --ignore-case --skip-fields:text --skip-chars:text
 --check-chars:text --zero-terminated --group?text --all-repeated?text | read write
cut | -nsz -b:text -c:text -d:text -f:text --bytes:text --characters:text --delimiter:text --fields:text --complement
 --only-delimited --output-delimiter:text --zero-terminated | read
tr | -cCdst --complement --delete --squeeze-repeats --truncate-set1 | text
fold | -bs -w:text --bytes --spaces --width:text | read
fmt | -cstu -w:text --width:text --split-only --uniform-spacing | read
expand unexpand | -ia -t:text --initial --all --tabs:text | read
column | -tnxeLJ -c:text -s:text -o:text -N:text -R:text -H:text --table --separator:text --output-separator:text
 --table-columns:text --json | read
paste | -sz -d:text --delimiters:text --serial | read
join | -iz -a:text -e:text -j:text -o:text -t:text -v:text -1:text -2:text --header --ignore-case | read
comm | -123z --check-order --nocheck-order --output-delimiter:text --total | read
diff | -qrsuNbBwEZiyatpTcde -U:text -C:text -W:text -x:text -X:read -I:text -L:text -# --brief --recursive
 --unified?text --context?text --color?text --side-by-side --ignore-all-space --ignore-space-change --new-file
 --ignore-blank-lines
 --ignore-case --report-identical-files --text --exclude:text --exclude-from:read --width:text --label:text
 --suppress-common-lines --strip-trailing-cr --from-file:read --to-file:read --minimal | read | -r --recursive
cmp | -bls -i:text -n:text --print-bytes --verbose --quiet --silent --bytes:text | read
stat | -LftxrsFnq -c:text --format:text --printf:text --dereference --file-system --terse | meta
file | -bikLhrszN0 -e:text -P:text --brief --mime --mime-type --mime-encoding --dereference --no-dereference | read
du | -abchklLmsSxHD0 -d:text -B:text -t:text --all --apparent-size --bytes --human-readable --max-depth:text --summarize
 --total --exclude:text --time?text --one-file-system --si --threshold:text | meta
df | -ahHiklPT -B:text -t:text -x:text --all --human-readable --inodes --local --portability --print-type --si --total
 --output?text | meta
tree | -adfisghDpuFqNlxQnCA -L:text -P:text -I:text -o:write --noreport --dirsfirst --gitignore --prune --filelimit:text
 --charset:text --du --si | meta
pwd | -LP | text
echo | | text
true false : | | text
date | -uRI -d:text -I?text -r:read -j -v:text --utc --universal --date:text --iso-8601?text --rfc-3339:text --rfc-email
 | date
whoami groups users tty arch nproc uptime logname hostid | -asp --all | none
id | -aGgnruzZ --group --groups --name --real --user --zero | text
hostname | -adfisAI --fqdn --ip-address --short --long | none
uname | -asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --operating-system | none
which | -as --all | text
basename | -az -s:text --multiple --suffix:text --zero | text
dirname | -z --zero | text
realpath readlink | -efmnqsvzLPE --canonicalize --canonicalize-existing --canonicalize-missing --no-newline
 --relative-to:text --relative-base:text --quiet --zero | meta
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum | -btz -a:text -l:text --binary --text
 --tag --zero --algorithm:text --length:text | read
base64 base32 | -dDi -w:text --decode --ignore-garbage --wrap:text | read
od hexdump hd | -bcdoxCvs -A:text -j:text -N:text -n:text -s:text -t:text -w?text -e:text --address-radix:text
 --format:text --skip-bytes:text --read-bytes:text | read
xxd | -abCceEiprRuv -c:text -g:text -l:text -o:text -s:text -n:text | read write
strings | -afwo -n:text -t:text -e:text -# --all --bytes:text --radix:text --encoding:text | read
seq | -w -f:text -s:text --equal-width --format:text --separator:text -# | text
expr sleep | | text
rg | -aciFHhIlLNnoPpqSsUuvwx0. -A:text -B:text -C:text -e:text -f:read -g:text -m:text -M:text -t:text -T:text -j:text
 -r:text -d:text -E:text --files --hidden --no-ignore --no-heading --heading --line-number --no-line-number
 --files-with-matches --files-without-match --count --count-matches --ignore-case --smart-case --case-sensitive
 --fixed-strings --word-regexp --multiline --glob:text --iglob:text --type:text --type-not:text --type-list
 --max-depth:text --max-count:text --context:text --after-context:text --before-context:text --color:text --json --stats
 --only-matching --replace:text --regexp:text --file:read --sort:text --sortr:text --follow --null --vimgrep --column
 --no-filename --with-filename --invert-match --pcre2 --trim --max-columns:text --no-messages --passthru --text
 --pre:exec --hostname-bin:exec --no-config --quiet --threads:text --encoding:text | grep
grep egrep fgrep | -EFGPivwxycoqshHnbTZLlraIUzR -e:text -f:read -m:text -A:text -B:text -C:text -d:text -D:text -#
 --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
 --word-regexp --line-regexp --count --color?text --colour?text --files-with-matches --files-without-match
 --max-count:text --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename
 --line-number --initial-tab --null --after-context:text --before-context:text --context:text --text
 --binary-files:text --directories:text --devices:text --exclude:text --exclude-from:read --exclude-dir:text
 --include:text --recursive --dereference-recursive --regexp:text --file:read --null-data --line-buffered --label:text
 | grep
fd fdfind | -HIuaLpsiFgl01q -t:text -e:text -E:text -d:text -S:text -c:text -j:text --hidden --no-ignore --absolute-path
 --follow --full-path --ignore-case --case-sensitive --fixed-strings --glob --type:text --extension:text --exclude:text
 --max-depth:text --min-depth:text --size:text --changed-within:text --changed-before:text --color:text --print0
 --list-details --max-results:text | text meta
zcat zipinfo | -1tqv | read
locale getconf getopt tput | -a | text
lsb_release | -acdirs --all --short | none
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """A read-only program: its options, what its operands are, and the options that make it read whole trees."""

    options: Table
    operands: tuple[str, ...]
    tree_options: tuple[str, ...] = ()


def _compiled() -> dict[str, Reader]:
    readers = {}
    for line in _TABLE.replace("\n ", " ").strip().splitlines():
        names, options, operands, *trees = (part.strip() for part in line.split("|"))
        reader = Reader(table(options), tuple(operands.split()), tuple(" ".join(trees).split()))
        readers.update(dict.fromkeys(names.split(), reader))
    return readers


READERS = _compiled()


def read_only(call: Invocation, shell: Shell) -> None:
    """What a program of the table does."""
    recorder, scope, reader = shell.recorder, shell.scope, READERS[call.program]
    if not reader.options.options and reader.operands == ("text",):
        recorder.executes_freely(call)
        return
    line = recorder.take_apart(call, reader.options, scope)
    match reader.operands:
        case ("grep",):
            _grep(call, line, recorder, scope)
        case ("date",):
            if not all(operand.startswith("+") for operand in line.operands):
                recorder.executes(call, scope)
                return
        case ("none",):
            if line.operands:
                recorder.executes(call, scope)
                return
        case roles:
            tree = line.has(*reader.tree_options)
            if not line.operands and roles[-1] == "meta":
                recorder.read(".", call.program, scope, "metadata")
            for position, operand in enumerate(line.operands):
                match roles[min(position, len(roles) - 1)]:
                    case "read":
                        recorder.read(operand, call.program, scope, "tree" if tree else "content")
                    case "meta":
                        recorder.read(operand, call.program, scope, "metadata")
                    case "write":
                        recorder.write(operand, call.program, scope)
                    case _:
                        pass
    recorder.settle(call, line, scope)


def _grep(call: Invocation, line: Line, recorder: Recorder, scope: Scope) -> None:
    """Search programs: a pattern first unless an option brought it, then files; a glob option can pick hidden files."""
    has_pattern = line.has("-e", "--regexp", "-f", "--file", "--files", "--type-list")
    files = line.operands if has_pattern else line.operands[1:]
    tree = call.program == "rg" or line.has("-r", "-R", "--recursive", "--dereference-recursive")
    for value in line.values("-d", "--directories"):
        tree = tree or "recurse".startswith(value)
    if tree and not files and call.stdin.kind == "nothing":
        files = (".",)
    globs = line.values("-g", "--glob", "--iglob", "--include")
    only = tuple(glob.rpartition("/")[2] for glob in globs if not glob.startswith("!"))
    without = [
        *line.values("--exclude"),
        *(f"{folder}/" for folder in line.values("--exclude-dir")),
        *(glob[1:].removeprefix("**/") + end for glob in globs if glob.startswith("!") for end in ("", "/")),
    ]
    if call.program == "rg" and not only and not line.has("--hidden", "-.", "-u"):
        without += [".*", ".*/"]
    extent: Extent = "metadata" if line.has("--files") else "tree" if tree else "content"
    for file in files:
        recorder.read(file, call.program, scope, extent, only=only, without=tuple(without))
    for name in only:
        recorder.read(name.replace("*", STAR), call.program, scope)
