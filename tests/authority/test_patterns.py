"""Partly known names against the names of rules."""

from __future__ import annotations

import pytest

from perdure.authority.patterns import ANY, DOTSTAR, STAR, UNKNOWN, folded, meets, points_at, rule_pattern, shown


@pytest.mark.parametrize(
    ("name", "rule", "expected"),
    [
        (".env", ".env", True),
        (".envx", ".env", False),
        ("." + STAR, ".env", True),
        (".e" + ANY + "v", ".env", True),
        (STAR, ".env", False),
        (STAR + "env", ".env", False),
        (ANY + "env", ".env", False),
        (DOTSTAR, ".env", True),
        (UNKNOWN, ".env", True),
        ("id_" + STAR, "id_*", True),
        (STAR + ".py", "*.pem", False),
        ("a.pem", "*.pem", True),
        (".env.local", ".env.*", True),
        (".env", ".env.*", False),
    ],
)
def test_a_name_meets_a_rule_when_some_name_is_both(name: str, rule: str, expected: bool) -> None:
    assert meets(name, rule_pattern(rule)) is expected


@pytest.mark.parametrize(
    ("name", "rule", "expected"),
    [
        ("id_" + STAR, "id_rsa", True),
        (ANY + "d_rsa", "id_rsa", True),
        ("." + STAR, ".env", True),
        (STAR + ".pem", "*.pem", True),
        (STAR, "credentials.json", False),
        (STAR + ".json", "credentials.json", False),
        ("test_" + STAR, "*.pem", False),
        (UNKNOWN, "id_rsa", False),
    ],
)
def test_a_bare_glob_points_at_nothing(name: str, rule: str, expected: bool) -> None:
    assert points_at(name, rule_pattern(rule)) is expected


def test_names_are_compared_without_case_and_invisible_characters() -> None:
    assert folded(".ENV") == folded(".e\u200bnv") == folded("．env") == ".env"


def test_open_parts_are_shown_as_people_write_them() -> None:
    assert shown(f"a{STAR}{ANY}{UNKNOWN}") == "a*?{unknown}"
