"""Serve the reference models: see `_endpoint`."""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import socket
import sys

import uvicorn

from ._endpoint import create_app

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Bind, print the address, serve."""
    parser = argparse.ArgumentParser(description="Serve the reference models on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--parent", type=int, help="process whose death ends the endpoint")
    options = parser.parse_args()
    if options.parent is not None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != options.parent:
            sys.exit(0)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
    config = uvicorn.Config(create_app(), log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
