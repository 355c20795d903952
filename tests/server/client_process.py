"""A client in a process of its own: `client_process.py JSON` makes one call of `solve`.

JSON: `{"target", "mode", "arguments"}`; the target is an address, or a command to start.
"""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    job = json.loads(sys.argv[1])
    target = job["target"]
    if isinstance(target, list):
        environment = dict(os.environ)
        target = StdioTransport(target[0], target[1:], env=environment, keep_alive=False)
    async with Client(target, mode=job["mode"]) as client:
        await client.call_tool("solve", job["arguments"])


if __name__ == "__main__":
    asyncio.run(main())
