"""The program and the ports of our own server."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.contracts.errors import PortInUseError
from perdure.worker.launch import choose_port, find_binary, is_free


def test_a_default_port_that_a_foreign_program_has_gives_way_to_a_free_one(foreign_port: int) -> None:
    chosen = choose_port(None, foreign_port, "PERDURE_PORT")
    assert chosen != foreign_port
    assert is_free(chosen)


def test_a_configured_port_is_never_exchanged(foreign_port: int) -> None:
    with pytest.raises(PortInUseError, match="PERDURE_UI_PORT"):
        choose_port(foreign_port, 1, "PERDURE_UI_PORT")


def test_the_binary_of_the_package_comes_first_and_then_the_path(tmp_path: Path) -> None:
    program = tmp_path / "temporal"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_binary(path=str(tmp_path)) != str(program)
    assert find_binary(distribution="no-such-package", path=str(tmp_path)) == str(program)
