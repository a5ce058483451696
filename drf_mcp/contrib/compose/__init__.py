"""One tool that runs a program over the other tools of an endpoint."""

from typing import Any

from drf_mcp.interaction.exchange import Slot

COMPOSE = "tools_compose"
LIMITS = {
    "calls": 50,
    "seconds": 20,
    "memory": 64,
    "output": 4000,
    "processes": 8,
    "waiting": 10,
    "characters": 1_000_000,
}
# The `ProgramCalls` of the program that makes a call.
PROGRAM: Slot[Any] = Slot()
