"""Envelopes that a view built itself, read back so that they are never wrapped twice.

A view may return one of this package's models, or the dict of a "response-v2"; what
it says is rendered in the envelope that is active. A dict may be of any project's
making: what is not of the right type in it counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drf_mcp.codes import CODES, HANDLING, category_of_code, standard_code
from drf_mcp.envelopes.metadata_parsing import items, mapping, read_meta
from drf_mcp.envelopes.model_parsing import pointer_of, read_ok, read_status
from drf_mcp.envelopes.response_v2 import ERROR_DATA, VERSION
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome, Problem

STANDARD_DATA = frozenset(ERROR_DATA["properties"])
# What marks a failure of a call that worked is said by `Failure.soft` from there on.
STANDARD_META = frozenset({"version", "soft"})
# Members by which ``details`` tell of a problem with an argument.
PROBLEM_MEMBERS = frozenset({"field", "pointer", "constraint", "code", "message"})
# What `error_response` fills in where it is told nothing better.
UNTOLD = "INTERNAL_ERROR"


def recognised(data: Any, status: int) -> Outcome | None:
    """Return the outcome that a view's own envelope tells of, None if it is none.

    Args:
        data: what the view answered.
        status: the HTTP status it answered with.
    """
    contract = getattr(type(data), "mcp_contract", None)
    if contract is not None:
        return READERS[contract](data, status)
    if not isinstance(data, Mapping) or "success" not in data:
        return None
    meta = data.get("meta")
    if not isinstance(meta, Mapping) or meta.get("version") != VERSION:
        return None
    return read_response_v2(data, status)


def read_tool_response(response: Any, status: int) -> Outcome:
    """Read a `ToolResponse`."""
    return read_response_v2(vars(response), status)


def read_response_v2(envelope: Mapping[str, Any], status: int) -> Outcome:
    """Read the members of a "response-v2"; ``meta.soft`` marks a soft failure."""
    data, meta = envelope.get("data"), envelope["meta"]
    failure = None
    if not envelope["success"]:
        failure = response_v2_failure(envelope, status, soft=meta.get("soft") is True)
        # A soft failure has an answer where a hard one has but its context.
        data = dict(failure.context) if failure.soft and failure.context else None
    return Outcome(
        tool="",
        status=status,
        data={} if data is None and failure is None else data,
        failure=failure,
        **read_meta(meta, STANDARD_META),
    )


def response_v2_failure(envelope: Mapping[str, Any], status: int, *, soft: bool) -> Failure:
    """Return the failure of a "response-v2" that says ``success: false``.

    What `error_response` filled in gives way to what the HTTP status says.
    """
    data = mapping(envelope.get("data"))
    code = str(data.get("error_code") or UNTOLD)
    named, remediation = data.get("error_type"), str(data.get("remediation") or "")
    if 400 <= status < 500 and named in (None, CODES[UNTOLD]):
        code, named = standard_code(status) if code == UNTOLD else code, None
        if remediation == HANDLING[CODES[UNTOLD]].remediation:
            remediation = ""
    details = mapping(data.get("details"))
    return Failure(
        code=code,
        category=category_of(named, code, status),
        message=str(envelope.get("error") or code),
        remediation=remediation,
        problems=tuple(response_v2_problems(details)),
        context={name: value for name, value in data.items() if name not in STANDARD_DATA},
        soft=soft,
        details={name: value for name, value in details.items() if is_of_its_type(name, value)},
    )


def is_of_its_type(name: str, value: Any) -> bool:
    """Return whether a member of ``details`` is what the contract says, if it names the member."""
    if name == "problems":
        return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)
    return name not in ("field", "constraint") or isinstance(value, str)


def category_of(named: Any, code: str, status: int) -> Category:
    """Return the category of that name, else what code and HTTP status make of it."""
    try:
        return Category(named)
    except ValueError:
        return category_of_code(code, status if status >= 400 else 500)


def response_v2_problems(details: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of an error's ``details``, or the one that it is itself."""
    entries = [mapping(entry) for entry in items(details.get("problems")) or [details]]
    return [
        Problem(
            code=str(entry.get("code") or entry.get("constraint") or "invalid"),
            message=str(entry.get("message") or ""),
            pointer=str(entry.get("pointer") or pointer_of(entry.get("field"))),
            received=entry.get("received", MISSING),
            accepted=str(entry["accepted"]) if entry.get("accepted") else None,
            remediation=str(entry.get("remediation") or ""),
            context=mapping(entry.get("context")),
        )
        for entry in entries
        if not PROBLEM_MEMBERS.isdisjoint(entry)
    ]


READERS: dict[str, Callable[[Any, int], Outcome]] = {
    VERSION: read_tool_response,
    "ok": read_ok,
    "status": read_status,
}
