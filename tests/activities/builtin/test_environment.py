from __future__ import annotations

import pytest

from perdure.activities.builtin.environment import without_secrets


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GithubToken",
        "GH_PAT",
        "DB_PASSWORD",
        "PGPASSWORD",
        "MYSQL_PWD",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "client_secret",
        "APIKEY",
        "PERDURE_OPENAI_KEY",
        "SESSION_COOKIE",
    ],
)
def test_a_variable_named_like_a_secret_is_left_out(name: str) -> None:
    assert without_secrets({name: "value"}) == {}


@pytest.mark.parametrize(
    "value",
    [
        "postgres://user:word@db/app",
        "https://abcdef@sentry.example/1",
        "sk-proj-abcdefghijklmnop1234",
        "Bearer sk-ant-abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrst",
        "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
    ],
)
def test_a_variable_that_holds_a_secret_is_left_out_whatever_its_name(value: str) -> None:
    assert without_secrets({"SETTING": value}) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/ada"),
        ("PWD", "/home/ada"),
        ("OLDPWD", "/"),
        ("SSH_AUTH_SOCK", "/tmp/agent"),
        ("LANG", "en_GB.UTF-8"),
        ("KEYBOARD", "de"),
        ("MONKEY", "1"),
        ("AUTHOR", "Ada"),
        ("PASSAGE", "north"),
        ("PROXY", "http://proxy.example:8080/"),
        ("MAIL", "ada@example.org"),
        ("VERSION", "task-management-1.2"),
    ],
)
def test_other_variables_stay(name: str, value: str) -> None:
    assert without_secrets({name: value}) == {name: value}
