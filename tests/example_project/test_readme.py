"""The README shows the demo's real answers."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from typing import Any

import pytest
from django.core.management import call_command

from tests.programs.interop.servers import ROOT

README = (ROOT / "README.md").read_text()
# The tool, the arguments and the answer of each call in the README.
CALLS = re.findall(r"`(\w+)` with .*?```json\n(.*?)```.*?```json\n(.*?)```", README, re.S)


def without_own(envelope: dict[str, Any]) -> dict[str, Any]:
    meta = {n: v for n, v in envelope["meta"].items() if n not in ("request_id", "telemetry")}
    return {**envelope, "meta": meta}


@pytest.mark.django_db
def test_the_answers_of_the_demo_are_those_of_the_readme():
    """A success and a refusal."""
    assert [json.loads(answer)["success"] for *_, answer in CALLS] == [True, False]
    for tool, arguments, answer in CALLS:
        out = io.StringIO()
        with suppress(SystemExit):
            call_command("mcp_call", tool, arguments, "--as", "alice", stdout=out)
        assert without_own(json.loads(out.getvalue())) == without_own(json.loads(answer))
