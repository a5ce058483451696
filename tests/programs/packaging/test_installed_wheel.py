"""The wheel in an environment without other packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.documentation.tutorial import Reader

# Dependencies of the dependencies.
BROUGHT = {
    *("annotated-types", "asgiref", "pydantic-core", "sqlparse"),
    *("typing-extensions", "typing-inspection", "tzdata"),
}


@dataclass(frozen=True)
class Environment:
    """A virtual environment.

    Attributes:
        folder: its folder.
    """

    folder: Path

    @property
    def python(self) -> str:
        """The path of its interpreter."""
        return str(self.folder / "bin" / "python")

    def run(self, *arguments: str) -> str:
        """Run its interpreter without access to this checkout, and return its output."""
        return run_alone([self.python, *arguments], self.folder)

    def pip(self, *arguments: str) -> str:
        """Run pip for it: the pip of the tests, as installing another one takes long."""
        return run_alone(
            [sys.executable, "-m", "pip", "--python", self.python, *arguments], self.folder
        )


def run_alone(command: list[str], folder: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
    process = subprocess.run(command, cwd=folder, env=kept, capture_output=True, encoding="utf-8")
    assert process.returncode == 0, f"{process.stdout}\n{process.stderr}"
    return process.stdout


@pytest.fixture
def environment(tmp_path, distributions) -> Environment:
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    made = Environment(folder)
    # Modules are compiled when they are imported; pip would compile all of them.
    made.pip("install", "--quiet", "--no-compile", str(distributions.wheel))
    return made


def check_environment(environment: Environment) -> None:
    """Assert that the installed packages are those that the package needs."""
    environment.pip("check")
    installed = json.loads(environment.pip("list", "--format=json"))
    names = {package["name"].lower().replace("_", "-") for package in installed}
    wanted = {"drf-mcp-server", "django", "djangorestframework", "pydantic"}
    assert wanted <= names <= wanted | BROUGHT
    place = environment.run("-c", "import drf_mcp; print(drf_mcp.__file__)")
    assert place.startswith(str(environment.folder))


async def check_stdio_server(environment: Environment, manage: Path, token: str) -> None:
    """Start the server by the command of the package, and call a tool."""
    parameters = StdioServerParameters(
        command=str(environment.folder / "bin" / "drf-mcp-server"),
        args=[str(manage), "mcp_stdio"],
        env={"MCP_TOKEN": token},
    )
    async with Client(parameters) as client:
        assert client.server_info.name == "office"
        result = await client.call_tool("tasks_list", {})
    (task,) = result.structured_content["data"]["results"]
    assert task["title"] == "Order a new lamp"


@pytest.mark.anyio
async def test_the_tutorials_first_call_and_the_stdio_server_run_from_the_wheel(
    environment, tmp_path
):
    """One test, since making the environment takes longest."""
    check_environment(environment)
    reader = Reader(tmp_path, environment.python, path="")
    reader.follow(until="mcp_call tasks_create title")
    await check_stdio_server(environment, reader.place / "manage.py", reader.token)
