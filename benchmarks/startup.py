"""How long a user waits before anything happens: the help, and a tool server's first answer.

Whole processes, from their start; in turn with the rivals, a bare interpreter and one that
imports FastMCP, below which nothing in Python that serves MCP with it can get.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

PYTHON = sys.executable


def process(*arguments: str) -> Callable[[], None]:
    """Runs a command of this interpreter to its end."""
    return lambda: (
        subprocess.run(
            [PYTHON, *arguments], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        and None
    )


def first_tools() -> None:
    """Start the server over stdio, ask for its tools, leave it."""

    async def ask() -> None:
        transport = StdioTransport(PYTHON, ["-m", "llm_modulo", "serve"], keep_alive=False)
        async with Client(transport) as client:
            if not await client.list_tools():
                raise SystemExit("The server has no tools.")

    asyncio.run(ask())


RIVALS: dict[str, tuple[Callable[[], None], str]] = {
    "python -c ''": (process("-c", ""), ""),
    "llm-modulo --help": (process("-m", "llm_modulo", "--help"), "about 300"),
    "python -c 'import fastmcp'": (process("-c", "from fastmcp import FastMCP"), ""),
    "llm-modulo serve, first tools/list": (first_tools, ""),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9, help="starts of each kind; median taken")
    rounds = parser.parse_args().rounds
    seconds: dict[str, list[float]] = {name: [] for name in RIVALS}
    for turn in range(rounds + 1):
        for name, (start, _) in RIVALS.items():
            begin = time.perf_counter()
            start()
            if turn > 0:  # the first one warms the disk cache
                seconds[name].append(time.perf_counter() - begin)
    print(f"Median of {rounds} whole processes in milliseconds, ratio to a bare interpreter\n")
    print(f"{'':<36} {'median':>7} {'ratio':>6}  target")
    base = statistics.median(seconds["python -c ''"])
    for name, times in seconds.items():
        middle = statistics.median(times)
        print(f"{name:<36} {1000 * middle:>7.0f} {middle / base:>6.1f}  {RIVALS[name][1]}")


if __name__ == "__main__":
    main()
