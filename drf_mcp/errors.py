"""What errors say, and the exceptions of guards: see docs/customising.md and docs/features.md."""

from __future__ import annotations

from drf_mcp.arguments.errors import (
    MASK,
    ArgumentsRefused,
    mask_member,
    missing_argument,
    not_an_object,
    refuse_many,
    shorten_value,
)
from drf_mcp.codes import PROBLEM_REMEDIES
from drf_mcp.dispatch.error_bodies import find_sentence
from drf_mcp.dispatch.errors import ErrorMapper
from drf_mcp.dispatch.guards import CallCrashed, CallRefused
from drf_mcp.option_types.spelling import ask_nearest, find_nearest, join_alternatives, join_names

__all__ = [
    "MASK",
    "PROBLEM_REMEDIES",
    "ArgumentsRefused",
    "CallCrashed",
    "CallRefused",
    "ErrorMapper",
    "ask_nearest",
    "find_nearest",
    "find_sentence",
    "join_alternatives",
    "join_names",
    "mask_member",
    "missing_argument",
    "not_an_object",
    "refuse_many",
    "shorten_value",
]
