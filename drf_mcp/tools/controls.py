"""What guards a tool, by its options and the settings, and which arguments the guards read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from drf_mcp.introspection.types import Parameter


class Controls:
    """The guards of one tool that a project switches on.

    Args:
        tool: a `Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.options = tool.options

    def find_guards(self) -> Iterator[str]:
        """Yield the names of the guards of the tool."""
        yield from ()

    def find_parameters(self) -> Iterator[Parameter]:
        """Yield the arguments that the guards of the tool read."""
        yield from ()
