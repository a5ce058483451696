"""The tools of the example project equal those in tools.json."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from drf_mcp.exposure import registry

GOLDEN = Path(__file__).with_name("tools.json")
ACTUAL = GOLDEN.with_suffix(".actual.json")


@pytest.mark.slow
def test_the_example_projects_tools_have_not_changed():
    out = io.StringIO()
    call_command("mcp_tools", "--json", stdout=out)
    actual = out.getvalue()
    if not GOLDEN.exists() or json.loads(actual) != json.loads(GOLDEN.read_text()):
        ACTUAL.write_text(actual)
        raise AssertionError(
            "The tools of the example project have changed. If they should have, run "
            f"cp {ACTUAL} {GOLDEN}"
        )
    ACTUAL.unlink(missing_ok=True)


def test_the_example_project_is_described_completely():
    """Every argument has a type, and no body is open."""
    for tool in registry.tools().values():
        for name, schema in tool.input_schema["properties"].items():
            assert "type" in schema, f"{tool.name}: {name}"
        assert tool.schema.body.kind != "open", tool.name
        assert tool.findings == (), tool.name
