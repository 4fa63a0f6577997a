"""Tests against servers that others wrote use the stage of the server tests."""

from tests.server.conftest import stage_without_worker

__all__ = ["stage_without_worker"]
