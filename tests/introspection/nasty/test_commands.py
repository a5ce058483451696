"""What the commands and the system check report of the nasty project."""

from __future__ import annotations

import inspect
import io
import re

import pytest
from django.core.checks import run_checks
from django.core.management import call_command

from drf_mcp.tools import registry
from tests.introspection.nasty.files import NoMultiPart


@pytest.fixture
def run_command():
    def run(*args):
        out = io.StringIO()
        call_command("mcp_tools", *args, stdout=out)
        return out.getvalue().splitlines()

    return run


@pytest.mark.slow
def test_every_report_on_the_nasty_project_works(nasty, run_command):
    cases = [(), ("--json",), ("size",), ("findings",)]
    assert min(len(run_command(*report)) for report in cases) > 60


@pytest.mark.slow
def test_findings_name_the_place_and_the_remedy(nasty, run_command):
    words = " ".join(" ".join(run_command("findings")).split())
    line = inspect.getsourcelines(NoMultiPart)[1]
    finding = "no_multipart_post: The view takes files but has no parser for them."
    assert f"tests/introspection/nasty/files.py:{line} {finding}" in words
    assert "Add rest_framework.parsers.MultiPartParser to the view's parser_classes." in words


def described_warnings(**options):
    return [message for message in run_checks(**options) if message.id == "drf_mcp.W010"]


@pytest.mark.slow
def test_the_deployment_check_counts_what_could_not_be_described(nasty):
    (message,) = described_warnings(include_deployment_checks=True)
    assert re.match(r"\d+ parts of the tools could not be described", message.msg)
    assert "mcp_tools findings" in message.hint


@pytest.mark.slow
def test_the_deployment_check_is_silent_about_the_example_project():
    assert described_warnings(include_deployment_checks=True) == []


def test_the_system_check_at_startup_describes_no_tool(nasty):
    assert described_warnings() == []
    assert not any("schema" in vars(tool) for tool in registry.tools().values())
