"""One tool that runs a program over the other tools of an endpoint, and programs of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from drf_mcp.interaction.exchange import Slot

__all__ = ["mcp_program"]

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


@dataclass
class NamedProgram:
    """A program that `mcp_program` declares; its options are options of the tool.

    Attributes:
        problem: why it is no tool.
    """

    name: str
    text: str
    arguments: Any
    result: Callable[..., Any] | None
    options: Mapping[str, Any]
    problem: str = ""

    def write(self, values: Mapping[str, Any]) -> str:
        """Return the program with its arguments, in the line before the first."""
        return "; ".join(f"{name} = {value!r}" for name, value in values.items()) + self.text


PROGRAMS: dict[str, NamedProgram] = {}


def mcp_program(
    name: str,
    program: str,
    *,
    arguments: Any = None,
    result: Callable[..., Any] | None = None,
    **options: Any,
) -> None:
    """Make a program over the tools of the project a tool of its own: see docs/fewer_tools.md.

    Call it in a module ``mcp.py``. The system checks compare the program with the tools.

    Args:
        program: Python, in which each tool is a function and each argument is a variable.
        arguments: the serializer class that reads and describes the arguments, if there are any.
        result: the serializer class of the result, or ``partial(Class, many=True)``.
        options: as of `mcp_tool`; the ``description`` is what the model reads.
    """
    text = "\n" + dedent(program).strip("\n")
    PROGRAMS[name] = NamedProgram(name, text, arguments, result, options)
