"""The version of an object: what reads say of it, and the writes that are refused by it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import router, transaction
from django.db.models import IntegerField
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.archives import CallObject, can_be_asked
from drf_mcp.contrib.writes.dry_run import DRY_RUN, NOTE, is_dry_run, shorten
from drf_mcp.describers import Parameter
from drf_mcp.dispatch.content import encode_data
from drf_mcp.features import CallState, Guard, Proceed, Slot
from drf_mcp.interaction.exchange import TRIAL
from drf_mcp.outcomes import Category, Failure, Outcome, Problem

# The argument that the guard reads, which is also the member of ``meta`` in a read.
IF_MATCH = "if_match"
STATUS = 412
ADVICE = (
    "Look at the present values. If the change is still right, call again with the present version."
)
# Characters of a present value that the refusal repeats.
MOST_SHOWN = 100


class Precondition:
    """What distinguishes the versions of a tool's objects.

    Attributes:
        is_etag: whether the view compares, by the header If-Match.
        name: the model's field that each save changes.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.is_etag = tool.options.if_match is True
        self.name = IF_MATCH if self.is_etag else str(tool.options.if_match)

    @functools.cached_property
    def guards_tool(self) -> bool:
        """Whether the tool changes one object that has a version."""
        if self.tool.reads or self.tool.endpoint.key_kwarg is None:
            return False
        return self.is_etag or (self.field is not None and self.finds_row)

    @property
    def finds_row(self) -> bool:
        """Whether the view can be asked for the row; no decorator around a view is run for that."""
        endpoint = self.tool.endpoint
        return hasattr(endpoint.view_class, "get_object") and can_be_asked(endpoint)

    @property
    def model(self) -> Any:
        return self.tool.endpoint.model

    @functools.cached_property
    def field(self) -> Any:
        """The field, None where the model has none by that name."""
        try:
            return self.model and self.model._meta.get_field(self.tool.options.if_match)
        except FieldDoesNotExist:
            return None

    @property
    def parameter(self) -> Parameter:
        # The meta of a read has a version that its data does not show.
        is_shown = self.name in self.tool.schema.output.get("properties", ())
        is_number = not self.is_etag and isinstance(self.field, IntegerField)
        name = self.name if is_shown else IF_MATCH
        words = f"The {name} last read."
        schema = {"type": "integer" if is_number else "string", "description": words}
        return Parameter(IF_MATCH, schema)

    def add_version(self, outcome: Outcome, answer: Any, headers: Mapping[str, str]) -> Outcome:
        """Return the outcome with the version of its object, unless the data shows it.

        Args:
            answer: the view's own value, before fields were selected from it.
            headers: the headers of the response.
        """
        if outcome.failure is not None or self.tool.endpoint.standard_action == "list":
            return outcome
        version = headers.get("ETag") if self.is_etag else None
        row = getattr(getattr(answer, "serializer", None), "instance", None)
        if not self.is_etag and self.field is not None and isinstance(row, self.field.model):
            data = outcome.data
            shown = data.get(self.name) if isinstance(data, Mapping) else None
            # A serializer may show the moment without its seconds, or another value by that name.
            if shown is None or not self.matches(shown, row):
                version = self.read_version(row)
        if version is None:
            return outcome
        return outcome.changed(meta={**outcome.meta, IF_MATCH: version})

    def read_version(self, row: Any) -> Any:
        """Return the version of a row as JSON."""
        value = getattr(row, self.field.attname)
        # A value that the database computes is unknown until the row is read again.
        if hasattr(value, "resolve_expression"):
            return None
        return json.loads(json.dumps(value, cls=JSONEncoder))

    def matches(self, sent: Any, row: Any) -> bool:
        """Return whether what a caller sent is the version of a row."""
        if sent == self.read_version(row):
            return True
        try:
            return bool(self.field.to_python(sent) == getattr(row, self.field.attname))
        except (ValidationError, ValueError, TypeError):
            return False


PRECONDITION: Slot[Precondition] = Slot()


def find_precondition(tool: Any) -> Precondition | None:
    """Return what distinguishes the versions of a tool's objects, None where nothing does."""
    if tool.options.if_match and PRECONDITION.get(tool) is None:
        PRECONDITION.set(tool, Precondition(tool))
    return PRECONDITION.get(tool)


class VersionGuard(Guard):
    """Adds the version of the object to the answer of a view."""

    is_for_each = True
    order = 520

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        outcome, response, precondition = proceed(call), call.response, find_precondition(call.tool)
        # The version that a dry run writes is rolled back with it.
        if response is None or precondition is None or TRIAL.get(call):
            return outcome
        return precondition.add_version(outcome, response.content.data, response.headers)


class PreconditionGuard(Guard):
    """Refuses a write to an object that has changed since it was read (HTTP 412).

    Where the view has ETags, the view compares. Else the guard does: it locks the row, where the
    database has locks, in the transaction in which the view writes.
    """

    is_for_each = True
    order = 510

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        sent, precondition = call.bound.controls.get(IF_MATCH), find_precondition(call.tool)
        if sent is None or precondition is None:
            return proceed(call)
        if precondition.is_etag:
            # Models leave the quotes of an entity tag out (RFC 9110, section 8.8.3).
            text = str(sent).strip()
            etag = text if text == "*" or text.endswith('"') else f'"{text}"'
            headers = {**(call.bound.headers or {}), "HTTP_IF_MATCH": etag}
            call.bound = replace(call.bound, headers=headers)
            outcome = proceed(call)
            return self.describe_refusal(call) if outcome.status == STATUS else outcome
        with transaction.atomic(using=router.db_for_write(precondition.model)):
            row = CallObject(call.caller, call.tool, call.bound).find_row(is_locked=True)
            # Without a row, the view refuses the call itself.
            if row is None or precondition.matches(sent, row):
                return proceed(call)
        return self.describe_refusal(call, precondition.read_version(row))

    def describe_refusal(self, call: CallState, version: Any = None) -> Outcome:
        tool, answer = call.tool, CallObject(call.caller, call.tool, call.bound).read()
        if answer is not None and tool.options.if_match is True:
            version = answer.headers.get("ETag")
        problem = Problem(
            "stale",
            "The object has changed since it was read.",
            tool.arguments.find_control_pointer(IF_MATCH),
            received=call.bound.controls[IF_MATCH],
            accepted=None if version is None else str(version),
            remediation=ADVICE,
        )
        failure = Failure(
            "CONFLICT", Category.CONFLICT, problem.message, problem.remediation, (problem,)
        )
        data = None if answer is None else json.loads(encode_data(answer.content.data))
        fields = data.items() if isinstance(data, dict) else ()
        facts = {
            IF_MATCH: version,
            "current": {name: shorten(value, MOST_SHOWN) for name, value in fields},
        }
        meta = {name: value for name, value in facts.items() if value not in (None, {})}
        if is_trial := is_dry_run(call):
            meta[DRY_RUN] = {"note": NOTE}
        return Outcome(tool.name, STATUS, failure=failure, meta=meta, is_trial=is_trial)
