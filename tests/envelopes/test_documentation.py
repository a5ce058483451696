"""The pages about envelopes: their exchanges are real, and their example works.

A test that fails has written the correct page, and prints the command that copies it.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from rest_framework import serializers

from tests.dispatch.views import validating
from tests.envelopes.conftest import ENVELOPES

DOCS = Path(django_settings.BASE_DIR) / "docs"
EXCHANGE = re.compile(
    r"```console\n\$ python manage\.py mcp_call (?P<command>.+)\n```\n\n"
    r"```(?P<language>json|text)\n(?P<shown>(?:(?!```).*\n)*)```\n"
)
# Values that differ from call to call, with their replacements on the pages.
FIXED = [
    (r"req_[0-9]{12}", "req_421695763163"),
    (r'"timestamp": "[^"]+"', '"timestamp": "2026-11-21T10:30:00.245Z"'),
    (r'"duration_ms": [0-9.e-]+', '"duration_ms": 24.5'),
    (r'"execution_time": [0-9.e-]+', '"execution_time": 0.0245'),
]


def printed(command: str) -> str:
    out = io.StringIO()
    # A tool that answers with an error ends the command with an exit code.
    with suppress(SystemExit):
        call_command("mcp_call", *shlex.split(command), stdout=out)
    text = out.getvalue()
    for pattern, shown in FIXED:
        text = re.sub(pattern, shown, text)
    return text


@pytest.mark.slow
@pytest.mark.django_db
def test_the_exchanges_of_a_page_are_what_mcp_call_prints(settings, tmp_path):
    def run(match: re.Match[str]) -> str:
        start, end = match.start("shown") - match.start(), match.end("shown") - match.start()
        return match[0][:start] + printed(match["command"]) + match[0][end:]

    for page, envelope_class in ENVELOPES.items():
        chosen = {"ENVELOPE_CLASS": envelope_class, "SERVER_VERSION": "1.0.0"}
        settings.DRF_MCP = {**settings.DRF_MCP, **chosen}
        shown = (DOCS / f"envelopes/{page}.md").read_text()
        true, count = EXCHANGE.subn(run, shown)
        assert count
        assert count == shown.count("mcp_call")
        if shown != true:
            written = tmp_path / f"{page}.md"
            written.write_text(true)
            blessing = f"cp {written} {DOCS}/envelopes/{page}.md"
            pytest.fail(f"Not what is printed. Compare, then: {blessing}")


def test_the_table_of_envelopes_is_complete():
    """Each page names its setting."""
    text = (DOCS / "envelopes.md").read_text()
    for page, envelope_class in ENVELOPES.items():
        name = f"drf_mcp.envelopes.{envelope_class.__name__}"
        assert f"| [`{name}`](envelopes/{page}.md)" in text
        setting = f'DRF_MCP = {{"ENVELOPE_CLASS": "{name}"}}'
        assert setting in (DOCS / f"envelopes/{page}.md").read_text()


def own_envelope() -> Any:
    section = (DOCS / "envelopes.md").read_text().split("## An envelope of your own")[1]
    source = re.search(r"```python\n(.+?)```", section, re.S)[1]
    assert len(source.splitlines()) <= 25
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace["JSendEnvelope"]


class Numbers(serializers.Serializer):
    number = serializers.IntegerField(max_value=5)


def test_the_custom_envelope_of_the_page_works(serve):
    """The agent checks every result with the envelope's schema."""
    used = own_envelope()
    served = serve(validating(Numbers), ENVELOPE_CLASS=used)
    agent = served.agent("response_v2")
    agent.path = "/mcp"
    assert agent.call("thing", number=1).envelope == {"status": "success", "data": {"number": 1}}
    refused = agent.call("thing", number=9)
    assert refused.is_error
    assert refused.envelope["data"] == {"number": "Ensure this value is less than or equal to 5."}
