"""The arguments that a plain HTTP request amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import RawPostDataException, UnreadablePostError
from rest_framework.exceptions import APIException

from drf_mcp.outcomes import MISSING
from drf_mcp.tools.arguments.bound_call import BODY, PATH, Argument, Call
from drf_mcp.tools.arguments.flat import FlatArguments

UNREADABLE = (APIException, SuspiciousOperation, RawPostDataException, UnreadablePostError)


def read_request_body(request: Any) -> Any:
    """Return the parsed body of a REST framework request; nothing if it cannot be read."""
    try:
        return request.data
    except UNREADABLE:
        return {}


def rebuild_call(arguments: FlatArguments, view: Any, body: Any) -> Call:
    """Return the call that a view's own request would have been.

    Args:
        arguments: the arguments of the tool that stands for the view's endpoint.
        view: the view instance, with the request it answered.
        body: the request's body, parsed.
    """
    values = ((argument, find_sent_value(argument, view, body)) for argument in arguments.arguments)
    sent = (pair for pair in values if pair[1] is not MISSING)
    return Call(arguments.gathered(sent))


def find_sent_value(argument: Argument, view: Any, body: Any) -> Any:
    """Return what the view's request holds for an argument, `MISSING` if nothing."""
    name = argument.parameter.name
    if argument.location == PATH:
        return view.kwargs.get(name, MISSING)
    if argument.location == BODY:
        if argument.whole:
            one = isinstance(body, Mapping) and not argument.required and argument.is_list
            return MISSING if one else body
        return body.get(name, MISSING) if isinstance(body, Mapping) else MISSING
    texts = [] if argument.whole else view.request.query_params.getlist(name)
    if not texts:
        return MISSING
    if argument.schema.get("type") == "array":
        return texts
    return argument.from_text(texts[-1])
