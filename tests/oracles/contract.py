"""The "response-v2" contract as a judge: its JSON Schema, compiled once."""

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
    """Return whether a text of the right pattern is a time of the calendar."""
    return not isinstance(value, str) or bool(datetime.fromisoformat(value.replace("Z", "+00:00")))


ENVELOPE = Draft202012Validator(SCHEMA, format_checker=FORMATS)
DIGEST = ENVELOPE.evolve(schema={"$ref": "#/$defs/digest", "$defs": SCHEMA["$defs"]})
MARK = "digest/v1"


def judge_response_v2(envelope: Any) -> None:
    """Hold an envelope against the contract, and every digest in it.

    Raises:
        jsonschema.ValidationError: if it says something that the contract does not allow.
    """
    ENVELOPE.validate(envelope)
    if MARK in json.dumps(envelope["data"]):
        for digest in digests(envelope["data"]):
            DIGEST.validate(digest)


def digests(value: Any) -> Iterator[Any]:
    """Yield the digests in a value: objects, or texts that are the JSON of one."""
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
    """Return the value of a JSON text, None if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_response_v2(value: Any) -> bool:
    """Return whether a value from a process of its own looks like a "response-v2".

    By members that no other envelope has together, not by its version, which may be wrong.
    """
    return isinstance(value, Mapping) and "success" in value and "status" not in value
