"""Keeps one Temporal server running for as long as any process uses it. Run by its path, with nothing but Python.

Processes that use the server share a lock, which the kernel takes back whatever way they end, kill -9 included. This
program waits for that lock alone: getting it means that nobody uses the server any more, and the server is ended. A
child of the first user would die under the second one; a child that outlives its user would stay for ever.

The server's own lock comes open from whoever starts us and is handed on to the server: as long as either of us lives,
nobody else opens the database.

Arguments: the descriptor of the server's lock, the path of the users' lock, the log, then the server's command line.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import threading

PATIENCE = 10.0
"""Seconds that the server has between being asked to end and being made to."""
PR_SET_PDEATHSIG = 1


def end_with_us() -> None:
    """In the server, before it runs: have Linux ask it to end when this program dies (prctl(2), PR_SET_PDEATHSIG)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def end(server: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, and make it after `PATIENCE`."""
    server.terminate()
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()


def end_when_unused(server: subprocess.Popen[bytes], users: int) -> None:
    """Wait until no process holds the users' lock, then end the server. The lock stays ours until we are gone."""
    fcntl.flock(users, fcntl.LOCK_EX)
    end(server)


def supervise(lock: int, users_path: str, log_path: str, command: list[str]) -> None:
    """Run the server until it ends or nobody uses it."""
    users = os.open(users_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    server = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(lock,), preexec_fn=end_with_us
    )
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: server.terminate())
    threading.Thread(target=end_when_unused, args=(server, users), daemon=True).start()
    server.wait()


if __name__ == "__main__":
    # Nobody waits for us: the process that starts us may end first, so init becomes our parent at once.
    if os.fork() == 0:
        supervise(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
    os._exit(0)
