"""The outcome of a change as text, from which the same answer is made any number of times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.access.limits import APPROACHING
from drf_mcp.outcomes import MISSING, Fidelity, Outcome, Pagination, Problem, Severity, Warning

# Of an outcome of a success. The quota that was left then is none of it.
KEPT = (
    *("tool", "status", "data", "content", "suggestions", "telemetry", "fidelity"),
    *("meta", "version", "content_hash", "request_id", "pagination"),
)
REPLAYED = "replayed"


class KeptEncoder(JSONEncoder):
    # In ASCII: every database has those characters.

    def __init__(self) -> None:
        super().__init__(allow_nan=False, separators=(",", ":"))

    def default(self, obj: Any) -> Any:
        if is_dataclass(obj) and type(obj).__module__ == Outcome.__module__:
            members = ((field.name, getattr(obj, field.name)) for field in fields(obj))
            return {name: value for name, value in members if value is not MISSING}
        return super().default(obj)


def write_warnings(warnings: Iterable[Warning]) -> list[Warning]:
    return [warning for warning in warnings if warning.code != APPROACHING]


def read_warning(members: Mapping[str, Any]) -> Warning:
    problems = tuple(Problem(**read_severity(problem)) for problem in members["problems"])
    return Warning(**{**read_severity(members), "problems": problems})


def read_severity(members: Mapping[str, Any]) -> dict[str, Any]:
    severity = members["severity"]
    return {**members, "severity": None if severity is None else Severity(severity)}


def write_outcome(outcome: Outcome) -> str:
    """Return the text of an outcome without a failure; what is lazy in it is read."""
    members = {name: getattr(outcome, name) for name in KEPT}
    return KeptEncoder().encode({**members, "warnings": write_warnings(outcome.warnings)})


def read_outcome(text: str) -> Outcome:
    """Return the outcome of a text that `write_outcome` wrote."""
    members = json.loads(text)
    pagination, fidelity = members["pagination"], members["fidelity"]
    return Outcome(
        **{
            **members,
            "content": tuple(members["content"]),
            "suggestions": tuple(members["suggestions"]),
            "warnings": tuple(map(read_warning, members["warnings"])),
            "pagination": None if pagination is None else Pagination(**pagination),
            "fidelity": None
            if fidelity is None
            else Fidelity(**{**fidelity, "dropped": tuple(fidelity["dropped"])}),
        }
    )
