"""The public face of the package: what applications import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import perdure


def test_every_public_name_can_be_imported() -> None:
    for name in perdure.__all__:
        assert getattr(perdure, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        perdure.nonsense  # noqa: B018 - the access is what is tested


def test_importing_the_package_does_not_import_temporal() -> None:
    code = "import sys, perdure; sys.exit('temporalio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
