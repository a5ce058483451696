"""What the package imports, and when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from drf_mcp import envelopes

RENDER = """
import json, sys
import django
from django.conf import settings
settings.configure()
django.setup()
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.outcomes import Category, Failure, Outcome
for envelope in (OkEnvelope(), PlainEnvelope(), ResponseV2Envelope(), StatusEnvelope()):
    failure = Failure("NOT_FOUND", Category.NOT_FOUND, "Not found.", "Look it up.")
    for outcome in (Outcome("t", 200, [1]), Outcome("t", 404, {}, failure)):
        envelope.texts(outcome, json.dumps)
        envelope.schema({"type": "array", "items": {}})
assert "pydantic" not in sys.modules
from drf_mcp.envelopes import DigestPayload
assert "pydantic" in sys.modules
"""


def test_pydantic_is_imported_when_a_model_is_first_used_and_not_for_rendering() -> None:
    root = Path(envelopes.__file__).parents[2]
    subprocess.run([sys.executable, "-c", RENDER], check=True, timeout=60, cwd=root)


@pytest.mark.parametrize("name", envelopes.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(envelopes, name) is not None
    assert name in dir(envelopes)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        envelopes.Nothing  # noqa: B018
