"""The MCP server: an adapter from the protocol to the planning tools."""

from ._app import create_server, serve
from .tools import PROFILES, TOOLS, ToolEntry

__all__ = ["PROFILES", "TOOLS", "ToolEntry", "create_server", "serve"]
