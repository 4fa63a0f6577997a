"""Paths as the machine would follow them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.authority.capabilities import Capability, ReadPath
from perdure.authority.commands import analyse_command, judge_command, judge_paths
from perdure.authority.paths import MachineFacts, analyse_paths, expanded_home, is_below, paths_of, resolved, with_disk
from perdure.authority.patterns import STAR, TREE, UNKNOWN
from tests.authority.corpus.lines import FACTS


@dataclass
class Links:
    """A disk that has only links, and a file with credentials in every folder of which more than the names is read."""

    links: Mapping[str, str]
    asked: list[str] = field(default_factory=list)

    def target(self, path: str) -> str | None:
        self.asked.append(path)
        return self.links.get(path)

    def links_in(self, folder: str) -> Mapping[str, str]:
        return {path: text for path, text in self.links.items() if path.rpartition("/")[0] == folder.rstrip("/")}

    def credentials_below(self, folder: str, depth: int) -> list[str]:
        return [f"{folder}/.env"] if depth > 1 else []


def linked(**links: str) -> MachineFacts:
    return replace(FACTS, links={f"/home/u/work/{name}": target for name, target in links.items()})


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("a", "/home/u/work/a"),
        ("./a/./b//c", "/home/u/work/a/b/c"),
        ("../a", "/home/u/a"),
        ("../../../../..", "/"),
        ("/", "/"),
        ("//etc//x", "/etc/x"),
        ("/tmp/../etc", "/etc"),
        (".", "/home/u/work"),
        (f"src/{STAR}.py", f"/home/u/work/src/{STAR}.py"),
    ],
)
def test_a_path_is_absolute_and_has_no_dots(word: str, place: str) -> None:
    assert resolved(word, FACTS.start, FACTS) == (place,)


def test_a_parent_is_taken_after_the_link_is_followed() -> None:
    facts = linked(out="/etc/ssh", inner="src/deep")

    assert resolved("out/../shadow", FACTS.start, facts) == ("/etc/shadow",)
    assert resolved("inner/../x", FACTS.start, facts) == ("/home/u/work/src/x",)


def test_a_glob_may_meet_a_link() -> None:
    places = resolved(f"o{STAR}/x", FACTS.start, linked(out="/etc"))

    assert set(places) == {f"/home/u/work/o{STAR}/x", "/etc/x"}


def test_links_that_point_at_each_other_are_unknown() -> None:
    assert resolved("a/x", FACTS.start, linked(a="b", b="a")) == (UNKNOWN,)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("~", "/home/u"),
        ("~/x", "/home/u/x"),
        ("~u/x", "/home/u/x"),
        ("~root/x", "/root/x"),
        ("~bob", "/home/bob"),
        ("a~", "a~"),
    ],
)
def test_a_tilde_is_a_home_folder(word: str, place: str) -> None:
    assert expanded_home(word, FACTS) == place


def test_a_path_with_an_open_part_is_inside_of_nothing() -> None:
    assert not is_below(f"/home/u/work/{UNKNOWN}", "/home/u/work")
    assert is_below(f"/home/u/work/{TREE}", "/home/u/work")
    assert not is_below("/home/u/workshop", "/home/u/work")


def test_a_link_out_of_the_workspace_leads_out_of_it() -> None:
    facts = linked(notes="/var/notes", key="/home/u/.ssh/id_rsa")

    assert judge_paths("read", ["notes/a.md"], facts).rule == "path:outside-workspace"
    assert judge_paths("read", ["key"], facts).rule == "safety:credentials"
    assert judge_command("cat key", facts).rule == "safety:credentials"
    assert judge_command("cat k*", facts).rule == "safety:credentials"
    assert judge_command("echo x > notes", facts).rule == "safety:system-configuration"
    assert judge_command("cd notes && cat a", facts).rule == "command:outside-workspace"


def test_links_are_looked_up_on_the_way_of_every_path_that_a_command_names() -> None:
    disk = Links({"/home/u/work/a": "b", "/home/u/work/b": "/etc", "/home/u/work/c": "/x"})

    facts = with_disk(lambda known: analyse_command("cat a/shadow", known).capabilities, FACTS, disk)

    assert facts.links == {"/home/u/work/a": "b", "/home/u/work/b": "/etc"}
    assert judge_command("cat a/shadow", facts).rule == "safety:credentials"


def test_links_that_a_glob_may_meet_are_looked_up() -> None:
    disk = Links({"/home/u/work/secret": "/etc/shadow"})

    facts = with_disk(lambda known: analyse_command("cat s*", known).capabilities, FACTS, disk)

    assert judge_command("cat s*", facts).rule == "safety:credentials"


def test_the_look_up_of_endless_links_ends() -> None:
    class Endless(Links):
        def target(self, path: str) -> str | None:
            return path + "/x"

    def analysis(known: MachineFacts) -> tuple[Capability, ...]:
        return analyse_paths("read", ["a"], known)

    facts = with_disk(analysis, FACTS, Endless({}))

    assert judge_paths("read", ["a"], facts).decision == "ask"


def test_files_with_credentials_are_looked_up_where_a_folder_is_searched_behind_its_links_too() -> None:
    disk = Links({"/home/u/work/a": "/srv/b"})

    def searching(known: MachineFacts) -> tuple[Capability, ...]:
        return analyse_command("grep -r x a; cat c/*", known).capabilities

    assert with_disk(searching, FACTS, disk).credentials == ("/srv/b/.env",)


def test_only_absolute_paths_are_worth_a_look() -> None:
    assert paths_of((ReadPath("/a", "cat"), ReadPath(UNKNOWN, "cat"), ReadPath("/a", "ls"))) == ("/a",)


@given(st.lists(st.sampled_from(("a", "b", "..", ".", "", "etc", "shadow", "work")), max_size=12), st.booleans())
def test_no_spelling_of_a_path_leads_elsewhere_than_the_machine_goes(parts: list[str], rooted: bool) -> None:
    word = ("/" if rooted else "") + "/".join(parts)
    place: list[str] = [] if word.startswith("/") else ["home", "u", "work"]
    for part in parts:
        if part == "..":
            place = place[:-1]
        elif part not in ("", "."):
            place.append(part)

    assert resolved(word, FACTS.start, FACTS) == ("/" + "/".join(place),)


@given(st.text(max_size=60))
def test_no_path_argument_raises(text: str) -> None:
    assert judge_paths("write", [text], FACTS).decision in ("allow", "ask")
