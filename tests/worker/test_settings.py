"""The table of settings: its checks, and its manual."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ByteSize, SecretStr, ValidationError

from perdure.contracts.activities import Patience
from perdure.contracts.agent import Limits
from perdure.contracts.durations import UNITS
from perdure.contracts.record import FileRecord
from perdure.providers.catalogue import Endpoint, ProviderSettings, values_of
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.worker.settings import Settings
from perdure.worker.sources import load_settings

MANUAL = Path(__file__).parent.parent.parent / "docs" / "settings.md"


def shown(name: str) -> str:
    """The default of a setting as the manual shows it."""
    info = Settings.model_fields[name]
    extra: Any = info.json_schema_extra
    return str(extra["shown"] or written(info.default))


def written(value: object) -> str:
    """A value as a person would write it in a settings file."""
    match value:
        case None:
            return "unset"
        case bool():
            return str(value).lower()
        case timedelta():
            unit = next(unit for unit in reversed(UNITS) if not value % UNITS[unit])
            return f"{value // UNITS[unit]}{unit}"
        case ByteSize():
            return value.human_readable()
        case tuple():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value)


def row(name: str) -> str:
    """The line of the manual's table for a setting."""
    info = Settings.model_fields[name]
    extra: Any = info.json_schema_extra
    return f"| `PERDURE_{name.upper()}` | {shown(name)} | {extra['expects']} | {info.description} |"


def test_the_manual_shows_every_setting_with_its_default() -> None:
    rows = [line for line in MANUAL.read_text(encoding="utf-8").splitlines() if line.startswith("| `PERDURE_")]
    assert rows == [row(name) for name in Settings.model_fields]


@pytest.mark.parametrize(("record", "title"), [(Endpoint, "Field"), (Dialect, "Flag")])
def test_the_manual_shows_every_field_of_a_provider_with_values_and_default(
    record: type[FileRecord], title: str
) -> None:
    table = MANUAL.read_text(encoding="utf-8").partition(f"| {title} | Values | Default | Meaning |\n")[2]
    rows = [line.split(" | ")[:3] for line in table.partition("\n\n")[0].splitlines()[1:]]
    fields = record.model_fields.items()
    assert rows == [
        [f"| `{name}`", values_of(info.annotation), "none" if info.is_required() else absent(info.default)]
        for name, info in fields
    ]


def absent(value: object) -> str:
    """The default of a provider's field as the manual shows it."""
    return "empty" if value == "" else "none" if value == {} else written(value)


def test_the_manual_names_every_dialect() -> None:
    row = next(line for line in MANUAL.read_text(encoding="utf-8").splitlines() if line.startswith("| `dialect`"))
    assert set(re.findall(r"[a-z]+", row.partition("differ:")[2])) - {"or"} == set(DIALECTS)


def test_the_example_of_the_manual_is_valid(tmp_path: Path) -> None:
    example = MANUAL.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "perdure.toml").write_text(example, encoding="utf-8")
    settings = load_settings(environ={}, folder=tmp_path, config_folder=tmp_path / "none").settings
    assert settings.idle_timeout == timedelta(hours=2)
    assert settings.provider_settings.endpoint("corp") == settings.providers["corp"]


def test_the_defaults_are_those_of_the_rooms_that_use_them() -> None:
    settings = Settings()
    assert settings.patience == Patience()
    assert settings.provider_settings == ProviderSettings()
    assert settings.limits == Limits()


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("250ms", timedelta(milliseconds=250)),
        ("30s", timedelta(seconds=30)),
        ("1.5 m", timedelta(seconds=90)),
        ("24h", timedelta(hours=24)),
        ("30d", timedelta(days=30)),
        ("PT1H", timedelta(hours=1)),
    ],
)
def test_durations_are_written_with_their_unit(text: str, duration: timedelta) -> None:
    assert Settings.model_validate({"idle_timeout": text}).idle_timeout == duration


@pytest.mark.parametrize("text", ["soon", "0s", "-1h", "5 parsecs", ""])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"idle_timeout": text})


@pytest.mark.parametrize("address", ["localhost:7233", "10.0.0.1:7233", "[::1]:7233", "ns.acct.tmprl.cloud:7233"])
def test_an_address_is_host_and_port(address: str) -> None:
    assert Settings(address=address).address == address


@pytest.mark.parametrize("address", ["localhost", "http://localhost:7233", "a b:1", ":7233"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValidationError):
        Settings(address=address)


def test_a_secret_is_not_shown_by_the_settings() -> None:
    settings = Settings(api_key=SecretStr("canary-5f1c"))
    assert "canary" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_settings_made_by_hand_read_nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_MODEL", "from:outside")
    assert Settings().model is None
