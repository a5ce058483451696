from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from drf_mcp.signals import tool_called
from tests.agents import Agent, Result


class Composer(Agent):
    """An agent that sends programs to the tool ``tools_compose``."""

    def run(self, program: str) -> Result:
        return self.call("tools_compose", program=program)

    def value(self, program: str) -> Any:
        """Return the value of a program that has to succeed."""
        result = self.run(program)
        assert not result.is_error, result.envelope
        return result.data["result"]

    def resume(self, stopped: Result, program: str = "", **answers: Any) -> Result:
        """Go on with a program, or a corrected one, with answers to the questions of a call."""
        arguments = {"answers": answers} if answers else {}
        if program:
            arguments["program"] = program
        return self.call("tools_compose", resume=stopped.data["resume"], **arguments)


@pytest.fixture
def composer_of(agent_of) -> Callable[..., Composer]:
    """Return agents at the endpoint whose programs may write: ``composer_of("alice")``."""

    def make(username: str | None, path: str = "/mcp/compose") -> Composer:
        return Composer(agent_of(username).http, path=path)

    return make


@pytest.fixture
def composer(composer_of) -> Composer:
    """An agent of alice, who has customers."""
    return composer_of("alice")


@pytest.fixture
def staff(composer_of) -> Composer:
    """An agent of carol, who is staff."""
    return composer_of("carol")


@pytest.fixture
def configure(settings) -> Callable[..., None]:
    """Change settings of DRF_MCP."""

    def change(**values: Any) -> None:
        settings.DRF_MCP = {**settings.DRF_MCP, **values}

    return change


@pytest.fixture
def calls() -> list[str]:
    """The names of the called tools, in their order."""
    names: list[str] = []

    def note(sender, tool, **kwargs) -> None:
        names.append(tool.name)

    tool_called.connect(note, weak=False)
    yield names
    tool_called.disconnect(note)
