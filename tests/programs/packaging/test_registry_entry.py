"""``server.json``, the entry of the package in the registry of MCP servers."""

from __future__ import annotations

import copy
import json

import pytest
from jsonschema import Draft202012Validator

from drf_mcp import __version__
from drf_mcp.management.commands.mcp_stdio import TOKEN_VARIABLE
from tests.programs.interop.servers import ROOT
from tests.programs.packaging.registry_schema import SERVER
from tests.programs.packaging.test_distributions import REPOSITORY

ENTRY = json.loads((ROOT / "server.json").read_text())
validator = Draft202012Validator(SERVER)


def test_the_entry_is_valid():
    Draft202012Validator.check_schema(SERVER)
    assert [error.message for error in validator.iter_errors(ENTRY)] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["name"], "drf-mcp-server"),
        (["description"], "x" * 101),
        (["version"], "latest"),
        (["packages", 0, "version"], ">=0.1"),
        (["packages", 0, "transport"], {"type": "http"}),
        (["packages", 0, "packageArguments", 0], {"type": "positional"}),
        (["packages", 0, "runtimeArguments", 0], {"type": "named"}),
        (["packages", 0, "environmentVariables", 0, "secret"], True),
    ],
)
def test_an_entry_that_the_registry_refuses_is_invalid(path, value):
    entry = copy.deepcopy(ENTRY)
    *above, last = path
    place = entry
    for step in above:
        place = place[step]
    place[last] = value
    assert not validator.is_valid(entry)


def test_the_entry_has_the_version_of_the_package():
    versions = {ENTRY["version"], *(package["version"] for package in ENTRY["packages"])}
    assert versions == {__version__}


def test_the_readme_has_the_name_of_the_entry():
    """The registry looks for it in the description on PyPI as a proof of ownership."""
    assert f"<!-- mcp-name: {ENTRY['name']} -->" in (ROOT / "README.md").read_text()


def test_the_entry_is_named_after_the_owner_of_the_repository():
    assert ENTRY["repository"]["url"] == ENTRY["websiteUrl"] == REPOSITORY
    owner = REPOSITORY.split("/")[-2]
    assert ENTRY["name"].startswith(f"io.github.{owner}/")


def test_the_token_is_a_secret_with_the_name_of_the_environment_variable():
    (variable,) = ENTRY["packages"][0]["environmentVariables"]
    assert variable["name"] == TOKEN_VARIABLE
    assert variable["isSecret"] is True
