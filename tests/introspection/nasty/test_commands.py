"""What the commands and the system check report of the nasty project."""

from __future__ import annotations

import inspect
import io

import pytest
from django.core.management import call_command

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
    cases = [(), ("--json",), ("findings",)]
    assert min(len(run_command(*report)) for report in cases) > 60


@pytest.mark.slow
def test_findings_name_the_place_and_the_remedy(nasty, run_command):
    words = " ".join(" ".join(run_command("findings")).split())
    line = inspect.getsourcelines(NoMultiPart)[1]
    finding = "no_multipart_post: The view takes files but has no parser for them."
    assert f"tests/introspection/nasty/files.py:{line} {finding}" in words
    assert "Add rest_framework.parsers.MultiPartParser to the view's parser_classes." in words
