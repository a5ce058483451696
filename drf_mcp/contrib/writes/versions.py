"""The version of an object: what reads tell of it, and what a write compares."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import IntegerField
from django.utils.translation import gettext as _
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.interaction.exchange import Slot
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.types import Parameter
from drf_mcp.outcomes import Outcome

# The argument that the guard reads, which is also the member of ``meta`` in a read.
IF_MATCH = "if_match"
PRECONDITION: Slot[Precondition] = Slot()


def find_precondition(tool: Any) -> Precondition | None:
    """Return what distinguishes the versions of a tool's objects, None where nothing does."""
    if not tool.options.if_match:
        return None
    if PRECONDITION.get(tool) is None:
        PRECONDITION.set(tool, Precondition(tool))
    return PRECONDITION.get(tool)


class Precondition:
    """What distinguishes the versions of a tool's objects.

    Args:
        tool: a `drf_mcp.tools.tool.Tool` with the option ``if_match``.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    @property
    def is_etag(self) -> bool:
        """Whether the view compares, by the header If-Match."""
        return self.tool.options.if_match is True

    @functools.cached_property
    def guards_tool(self) -> bool:
        """Whether the tool changes one object that has a version."""
        endpoint = self.tool.endpoint
        if self.tool.reads or endpoint.key_kwarg is None:
            return False
        has_row = hasattr(endpoint.view_class, "get_object") and self.field is not None
        return self.is_etag or has_row

    @functools.cached_property
    def model(self) -> Any:
        endpoint = self.tool.endpoint
        return attempt(endpoint.place, lambda: self.tool.related.find_model(endpoint), "", [], None)

    @functools.cached_property
    def field(self) -> Any:
        """The model's field that each save changes; None where the model has none by that name."""
        try:
            return self.model and self.model._meta.get_field(self.tool.options.if_match)
        except FieldDoesNotExist:
            return None

    @property
    def name(self) -> str:
        return IF_MATCH if self.is_etag else str(self.tool.options.if_match)

    @property
    def parameter(self) -> Parameter:
        # What a read does not show is in the read's meta.
        shown = (
            self.name if self.name in self.tool.schema.output.get("properties", ()) else IF_MATCH
        )
        is_number = not self.is_etag and isinstance(self.field, IntegerField)
        # Translators: the field is a name, such as "updated_at".
        words = _("The %(field)s last read: refused if changed since.") % {"field": shown}
        schema = {"type": "integer" if is_number else "string", "description": words}
        return Parameter(IF_MATCH, schema)

    def tell(self, outcome: Outcome, answer: Any, headers: Mapping[str, str]) -> Outcome:
        """Return the outcome with the version of its object, unless the data shows it.

        Args:
            answer: the view's own value, before fields were selected from it.
            headers: the headers of the response.
        """
        if outcome.failure is not None or self.tool.endpoint.standard_action == "list":
            return outcome
        version = headers.get("ETag") if self.is_etag else self.find_version(outcome.data, answer)
        if version is None:
            return outcome
        return outcome.changed(meta={**outcome.meta, IF_MATCH: version})

    def find_version(self, data: Any, answer: Any) -> Any:
        row = getattr(getattr(answer, "serializer", None), "instance", None)
        if self.field is None or not isinstance(row, self.field.model):
            return None
        shown = data.get(self.name) if isinstance(data, Mapping) else None
        # A serializer may show the moment without its seconds, or another value by that name.
        return None if shown is not None and self.matches(shown, row) else self.get_version(row)

    def get_version(self, row: Any) -> Any:
        """Return the version of a row as JSON."""
        value = getattr(row, self.field.attname)
        # What the database computes is known when the row is read again.
        if hasattr(value, "resolve_expression"):
            return None
        return json.loads(json.dumps(value, cls=JSONEncoder))

    def matches(self, sent: Any, row: Any) -> bool:
        """Return whether what a caller sent is the version of a row."""
        if sent == self.get_version(row):
            return True
        try:
            return bool(self.field.to_python(sent) == getattr(row, self.field.attname))
        except (ValidationError, ValueError, TypeError):
            return False


def write_etag(sent: Any) -> str:
    # Models leave the quotes of an entity tag out (RFC 9110, section 8.8.3).
    text = str(sent).strip()
    return text if text == "*" or text.endswith('"') else f'"{text}"'
