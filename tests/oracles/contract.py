"""Checks envelopes with the JSON Schema of the "response-v2" contract."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

SCHEMA: dict[str, Any] = json.loads(
    Path(__file__).with_name("response_v2.schema.json").read_text(encoding="utf-8")
)
Draft202012Validator.check_schema(SCHEMA)
FORMATS = FormatChecker(())


@FORMATS.checks("date-time", ValueError)
def is_time(value: Any) -> bool:
    """Return whether a text of the right pattern is a valid date and time."""
    return not isinstance(value, str) or bool(datetime.fromisoformat(value.replace("Z", "+00:00")))


ENVELOPE = Draft202012Validator(SCHEMA, format_checker=FORMATS)
DIGEST = ENVELOPE.evolve(schema={"$ref": "#/$defs/digest", "$defs": SCHEMA["$defs"]})
MARK = "digest/v1"


def judge_response_v2(envelope: Any) -> None:
    """Validate an envelope with the contract, and every digest in it.

    Raises:
        jsonschema.ValidationError: if the contract does not allow it.
    """
    ENVELOPE.validate(envelope)
    if MARK in json.dumps(envelope["data"]):
        for digest in digests(envelope["data"]):
            DIGEST.validate(digest)


def digests(value: Any) -> Iterator[Any]:
    """Yield the digests in a value: objects, or strings with the JSON of one."""
    if isinstance(value, str) and value.startswith("{") and MARK in value:
        yield from digests(parsed(value))
    elif isinstance(value, Mapping):
        if value.get("content_type") == MARK:
            yield value
        for member in value.values():
            yield from digests(member)
    elif isinstance(value, list):
        for item in value:
            yield from digests(item)


def parsed(text: str) -> Any:
    """Return the value of a JSON text, None for invalid JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_response_v2(value: Any) -> bool:
    """Return whether a value from another process looks like a "response-v2" envelope.

    Decides by members that no other envelope has together, since the version may be wrong.
    """
    return isinstance(value, Mapping) and "success" in value and "status" not in value
