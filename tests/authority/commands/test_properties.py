"""No wrapping, quoting, nesting, splitting or renaming makes a forbidden command allowed; quoting makes none ask."""

from __future__ import annotations

import random
import shlex

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from perdure.authority.commands import CommandPolicy, judge_command
from tests.authority.corpus.lines import FACTS, MUST_PASS

NAMED = CommandPolicy(("ls", "cat", "echo", "grep", "git", "find", "xargs", "env", "bash"))
FORBIDDEN = st.sampled_from(
    (
        "rm x",
        "rm -rf build",
        "touch x",
        "mv a b",
        "curl https://example.com",
        "python3 x.py",
        "./run",
        "tee x",
        "npm test",
    )
)
WRAPPERS = st.sampled_from(
    (
        "sudo {}", "sudo -u root -- {}", "env {}", "env A=1 B=2 {}", "env -i {}", "nohup {}", "nice -n 5 {}",
        "timeout 5 {}",
        "timeout -k 1 -s TERM 5 {}", "time {}", "stdbuf -oL {}", "setsid {}", "ionice -c 2 {}", "command {}", "exec {}",
        "busybox {}", "xargs {}", "xargs -0 -n 1 {}", "find . -exec {} \\;", "find . -type f -exec {} +",
        "strace -f {}",
        "watch {}", "parallel {}", "flock lock {}", "A=1 {}", "coproc {}", "chrt 1 {}", "taskset 1 {}",
    )
)  # fmt: skip
NESTINGS = st.sampled_from(
    (
        "({})", "{{ {}; }}", "! {}", "ls; {}", "ls && {}", "ls || {}", "ls | {}", "{} | cat", "ls & {}", "{} &",
        "ls\n{}",
        "echo $({})", "echo `{}`", 'echo "$({})"', 'echo "`{}`"', "cat <({})", "ls > >({})", "if {}; then ls; fi",
        "if ls; then {}; fi", "if ls; then ls; elif ls; then {}; fi", "while {}; do ls; done", "while ls; do {}; done",
        "for i in 1; do {}; done", "for i in $({}); do ls; done", "case x in x) {};; esac", "f() {{ {}; }}; f",
        "ls() {{ {}; }}; ls", "[[ -n $({}) ]]", 'x="$({})"', "export X=$({})", "cat <<EOF\n$({})\nEOF",
        "echo ${{x:-$({})}}",
        "ls # comment\n{}", "echo 'a' \"b\" ; {}", "echo $(( $({}) ))", "cat <<'EOF'\nx\nEOF\n{}", "cat <<< \"$({})\"",
    )
)  # fmt: skip
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp"), exclude_characters="\ufeff"),
    max_size=40,
)


def spelled(name: str, source: random.Random) -> str:
    """The same word in other quotes."""
    pieces = []
    for character in name:
        match source.randrange(6):
            case 0:
                pieces.append(f"'{character}'")
            case 1:
                pieces.append(f'"{character}"')
            case 2:
                pieces.append(f"\\{character}")
            case 3:
                pieces.append(f"$'\\x{ord(character):02x}'")
            case 4:
                pieces.append(character + "''")
            case _:
                pieces.append(character)
    return "".join(pieces)


def asks(text: str) -> bool:
    return judge_command(text, FACTS, NAMED).decision != "allow"


@given(FORBIDDEN, st.lists(st.one_of(WRAPPERS, NESTINGS), max_size=4))
@settings(max_examples=400, deadline=None)
def test_wrapping_and_nesting_never_make_a_forbidden_command_allowed(command: str, around: list[str]) -> None:
    for shape in around:
        command = shape.replace("{{", "\x01").replace("}}", "\x02").replace("{}", command)
        command = command.replace("\x01", "{").replace("\x02", "}")

    assert asks(command), command


@given(FORBIDDEN, st.randoms(use_true_random=False), st.lists(NESTINGS, max_size=2))
@settings(max_examples=300, deadline=None)
def test_another_spelling_never_makes_a_forbidden_command_allowed(
    command: str, source: random.Random, around: list[str]
) -> None:
    text = " ".join(spelled(word, source) for word in command.split())
    for shape in around:
        if "`" not in shape:
            text = shape.replace("{{", "\x01").replace("}}", "\x02").replace("{}", text)
            text = text.replace("\x01", "{").replace("\x02", "}")

    assert asks(text), text


@given(
    FORBIDDEN,
    st.integers(1, 4),
    st.sampled_from(("bash -c", "sh -c", "bash -xec", "eval", "env bash -c", "sudo sh -c")),
)
@settings(deadline=None)
def test_a_shell_in_a_shell_never_makes_a_forbidden_command_allowed(command: str, times: int, shell: str) -> None:
    for _ in range(times):
        command = f"{shell} {shlex.quote(command)}"

    assert asks(command), command


@given(FORBIDDEN, st.data())
@settings(deadline=None)
def test_splitting_a_command_over_variables_never_makes_it_allowed(command: str, data: st.DataObject) -> None:
    name, _, rest = command.partition(" ")
    at = data.draw(st.integers(0, len(name)))
    text = data.draw(
        st.sampled_from(
            (
                f"a={name[:at]}; b={name[at:]}; $a$b {rest}",
                f"a={name[:at]} b={name[at:]}; ${{a}}${{b}} {rest}",
                f"{name[:at]}$(){name[at:]} {rest}",
                f"{name[:at]}${{none}}{name[at:]} {rest}",
                f"{name[:at]}\\\n{name[at:]} {rest}",
                f"x='{command}'; $x",
                f"x='{command}'; eval $x",
                f"eval '{name[:at]}''{name[at:]}' {rest}",
                f"alias ls='{command}'; ls",
                f"ls () {{ {command}; }}; ls",
                f"$(echo {name}) {rest}",
                f"`printf {name}` {rest}",
                f'set -- {command}; "$@"',
                f"echo '{command}' | sh",
                f"bash <<< '{command}'",
                f"bash <<'E'\n{command}\nE",
                f"trap '{command}' EXIT",
                f"ln -s /bin/{name.strip('./')} y; ./y {rest}",
            )
        )
    )

    assert asks(text), text


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_quoting_harmless_text_never_makes_a_command_ask(text: str) -> None:
    assert not asks(f"echo {shlex.quote(text)}")
    assert not asks(f"grep -F -e {shlex.quote(text)} notes.txt")


@given(TEXTS)
@settings(deadline=None)
def test_the_body_of_a_quoted_here_document_is_data(text: str) -> None:
    assume(text != "END")
    assert not asks(f"cat <<'END'\n{text}\nEND\n")


@given(st.sampled_from(MUST_PASS), TEXTS)
@settings(deadline=None)
def test_a_comment_is_data(command: str, text: str) -> None:
    assume("\n" not in command)
    assert judge_command(f"{command} # {text}", FACTS) == judge_command(command, FACTS)
