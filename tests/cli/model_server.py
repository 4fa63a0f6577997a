"""A model server on this machine, as Ollama and its like are: it lists a model and streams one answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.providers.serving import chunk, counted, events

CALL = {"index": 0, "id": "call_0", "function": {"name": "list_dir", "arguments": '{"path": "."}'}}
CALLS_THE_TOOL = events(
    chunk(content="I "), chunk(content="look."), chunk(tool_calls=[CALL]), chunk("tool_calls"), counted()
)
ONLY_TALKS = events(chunk(content="Hello."), chunk("stop"), counted())


@contextmanager
def model_server(answer: bytes) -> Iterator[str]:
    """Serve for the time of a block; gives the base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply("application/json", json.dumps({"data": [{"id": "small"}, {"id": "embedder"}]}).encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self._reply("text/event-stream", answer)

        def _reply(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
