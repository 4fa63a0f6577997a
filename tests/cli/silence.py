"""A Temporal server that hangs: it takes connections and answers, until it has been asked so many requests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PREFACE = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
FRAME_HEAD = 9
HEADERS = 1
"""The type of the HTTP/2 frame that begins a request (RFC 9113, 6.2)."""

Passing = Callable[[socket.socket, socket.socket], None]


@contextmanager
def falling_silent(address: str, *, after: int) -> Iterator[str]:
    """Pass on to the server at ``address`` the first ``after`` requests; gives the address to use."""
    asked: list[int] = []
    opened: list[socket.socket] = []

    def requests(client: socket.socket, server: socket.socket) -> None:
        heard = client.makefile("rb")
        server.sendall(heard.read(PREFACE))
        while len(head := heard.read(FRAME_HEAD)) == FRAME_HEAD:
            if head[3] == HEADERS:
                asked.append(1)
            frame = head + heard.read(int.from_bytes(head[:3]))
            if len(asked) <= after:
                server.sendall(frame)

    def replies(server: socket.socket, client: socket.socket) -> None:
        while (data := server.recv(65_536)) and len(asked) <= after:
            client.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                host, _, port = address.rpartition(":")
                server = socket.create_connection((host, int(port)))
                opened.extend((client, server))
                threading.Thread(target=quietly, args=(requests, client, server), daemon=True).start()
                threading.Thread(target=quietly, args=(replies, server, client), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for each in opened:
                each.close()


def quietly(passed_on: Passing, source: socket.socket, target: socket.socket) -> None:
    """Pass on until one of the two is closed."""
    with suppress(OSError, ValueError):
        passed_on(source, target)
