"""``python -m perdure.worker``: a worker with the settings of its surroundings, for services and containers."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys

import structlog

from perdure.contracts.errors import CallerError, OperatorError, PerdureError
from perdure.worker.logs import configure_logging
from perdure.worker.sources import load_settings
from perdure.worker.worker import run_worker


def main() -> int:
    """Run the worker until a signal; the exit status is 0, 2 (wrong settings), 3 (no server or model) or 1."""
    try:
        loaded = load_settings()
        configure_logging(loaded.settings, loaded.environ)
        for warning in loaded.warnings:
            structlog.get_logger(__name__).warning(warning)
        asyncio.run(run_worker(loaded.settings, loaded.environ))
    except PerdureError as error:
        sys.stderr.write(f"error: {error}\n")
        match error:
            case CallerError():
                return 2
            case OperatorError():
                return 3
            case _:
                return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception:  # noqa: BLE001 - the last place: what nobody foresaw is logged, filtered, and not shown raw
        structlog.get_logger(__name__).exception("the worker failed")
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    # A process that held a client and a worker crashes in one of five exits (134 or 139): native threads of the SDK
    # call into an interpreter that is being torn down. So there is no teardown.
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
