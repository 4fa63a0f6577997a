"""Recorded traffic of model providers, kept outside of this repository.

The folder is named by PERDURE_WIRE_DIR, else it is looked for beside the repository; without it the tests are skipped.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(os.environ.get("PERDURE_WIRE_DIR") or Path(__file__).parents[3] / "shared" / "wire")

needs_recordings = pytest.mark.skipif(
    not ROOT.is_dir(), reason=f"there are no recordings at {ROOT}; PERDURE_WIRE_DIR names their folder"
)

_STATUS = re.compile(r"^# status (\d+) \S+ (\{.*\})$", re.MULTILINE)
_BROKEN = re.compile(rb"\n*<<client saw .*>>\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One recorded request and its reply. ``broken`` says that the connection broke at the end of the body."""

    name: str
    url: str
    request: dict[str, Any]
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    broken: bool = False


def recorded(provider: str) -> Iterator[Exchange]:
    """The exchanges of one provider's folder."""
    for path in sorted((ROOT / provider).glob("*.json")):
        for number, exchange in enumerate(json.loads(path.read_text())["exchanges"]):
            reply = exchange["response"]
            yield Exchange(
                name=f"{path.stem}-{number}",
                url=exchange["request"]["url"],
                request=exchange["request"].get("json") or {},
                status=reply["status"],
                body=_body(reply),
                headers=reply["headers"],
            )


def captured(pattern: str) -> Iterator[Exchange]:
    """The raw captures whose names match ``pattern``."""
    for path in sorted((ROOT / "captures").glob(pattern)):
        raw = path.read_bytes()
        head, _, body = raw.partition(b"\n\n")
        text = head.decode()
        status = _STATUS.search(text)
        if status is None:
            continue
        whole = _BROKEN.sub(b"", body)
        yield Exchange(
            name=path.stem,
            url=text.split("\n")[0].removeprefix("# POST "),
            request=json.loads(text.split("# request: ")[1].split("\n")[0]),
            status=int(status[1]),
            body=whole,
            headers={key: value for key, value in json.loads(status[2]).items() if key != "transfer-encoding"},
            broken=whole != body,
        )


def _body(reply: dict[str, Any]) -> bytes:
    if "json" in reply:
        return json.dumps(reply["json"]).encode()
    if "b64" in reply:
        data = base64.b64decode(reply["b64"])
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    return str(reply.get("sse", reply.get("text", ""))).encode()
