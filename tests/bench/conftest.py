"""Benchmarks and the tests of their figures use the stage of the server tests."""

from __future__ import annotations

from tests.server.conftest import stage, stage_without_worker

__all__ = ["stage", "stage_without_worker"]
