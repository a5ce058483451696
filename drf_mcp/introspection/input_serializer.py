"""The serializer that reads the body of a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rest_framework.serializers import ListSerializer, Serializer

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.findings import make_finding
from drf_mcp.introspection.forms import find_writable_fields
from drf_mcp.introspection.inspection import RETURN_EARLY, Inspection
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.request_members import SerializerCall

UNKNOWN = "The handler reads its body without a known serializer."
DECLARE = (
    "Give the view a serializer_class, construct a serializer with data=request.data in the"
    " handler itself, or declare the members with @mcp_tool(body={...})."
)


class InputSerializer:
    """The serializer that reads the body, or one of several.

    Args:
        call: the place where the handler makes it; by default all places, if they make the same.
        data: what the serializer is given as data; by default nothing.
    """

    def __init__(
        self, inspection: Inspection, call: SerializerCall | None = None, data: Any = None
    ) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view
        self.reading = inspection.reading
        self.calls = tuple(self._find_calls()) if call is None else (call,)
        self.call = self.calls[0] if len(self.calls) == 1 else None
        self.options: dict[str, Any] = {} if data is None else {"data": data}

    def _find_calls(self) -> Iterator[SerializerCall]:
        """Yield the serializers that the handler makes of the body, each class once."""
        alike: dict[Any, list[SerializerCall]] = {}
        for call in self.reading.serializer_calls if self.reading is not None else ():
            alike.setdefault((call.serializer_class, call.attribute), []).append(call)
        for calls in alike.values():
            # Calls may differ in `partial` and `many`: then both are possible.
            partial, many = {call.partial for call in calls}, {call.many for call in calls}
            yield replace(
                calls[0],
                partial=partial.pop() if len(partial) == 1 else None,
                many=many.pop() if len(many) == 1 else None,
            )

    @property
    def each(self) -> list[InputSerializer]:
        """A reader for each serializer that the handler chooses between."""
        if len(self.calls) < 2:
            return [self]
        return [InputSerializer(self.inspection, call) for call in self.calls]

    @property
    def is_unread(self) -> bool:
        """Whether no serializer is known to read the body."""
        return self.call is None and not self.is_inherited

    @property
    def is_inherited(self) -> bool:
        # Where no code in the handler makes a serializer, the view's serializer reads the body of a
        # standard action, and of an extra action with a serializer_class of its own.
        if self.inspection.is_extra_action:
            return "serializer_class" in vars(self.view)
        has_serializer = hasattr(self.view, "get_serializer") or hasattr(
            self.view, "serializer_class"
        )
        return self.inspection.method != "DELETE" and has_serializer

    @property
    def requires_nothing(self) -> bool:
        # The update may be partial, or the serializer may read something else than the body, or may
        # not be made at all. Where the code does not show it, a PATCH is a partial update.
        call, reading = self.call, self.reading
        if (call is not None and call.partial) or "partial_update" in self.inspection.calls:
            return True
        if call is None and reading is not None:
            makes_serializer = reading.serializer_calls or "get_serializer" in reading.calls
            if reading.reads_parts or (reading.reads_keys_alone and not makes_serializer):
                return True
        is_unclear = call is None or call.partial is None or call.serializer_class is None
        return is_unclear and self.inspection.method == "PATCH"

    def get_serializer(self) -> Any:
        call, inspection = self.call, self.inspection
        if call is not None and (call.serializer_class is not None or call.many):
            return inspection.attempt(lambda: self.construct(call), RETURN_EARLY, None)
        if self.is_unread:
            if self.reading is None or not (self.reading.ignores_body or self.reading.is_known):
                inspection.add_finding(UNKNOWN, DECLARE)
            return None
        serializer = self._make_view_serializer()
        # A serializer without fields does not describe a body that the handler reads as a whole.
        reads_whole = self.reading is not None and self.reading.reads_whole
        if call is not None or not reads_whole or not isinstance(serializer, Serializer):
            return serializer
        return serializer if find_writable_fields(serializer) else None

    def make_serializer(self) -> Any:
        """Return the serializer as the handler makes it, or raise what its code raises."""
        if self.call is not None:
            return self.construct(self.call)
        if hasattr(self.view, "get_serializer"):
            return self.view.get_serializer(**self.options)
        return self.view.serializer_class(context=self.context, **self.options)

    def _make_view_serializer(self) -> Any:
        view = self.view
        ways = (
            lambda: view.get_serializer(),
            lambda: view.get_serializer_class()(context=self.context),
            lambda: view.serializer_class(context=self.context),
        )
        failures: list[Exception] = []
        for way in ways:
            serializer = attempt(way, otherwise=failures.append)
            if serializer is not None:
                return serializer
        # The project itself uses the first way.
        for exc in failures[:1]:
            remedy = f"{RETURN_EARLY} Or: {DECLARE}"
            self.inspection.findings.append(make_finding(self.inspection.place, exc, remedy))
        return None

    def find_row_serializer(self, serializer: Any) -> Any:
        """Return the serializer of a list, if the handler takes an object or a list, else None."""
        inspection, call = self.inspection, self.call
        if isinstance(serializer, ListSerializer) or inspection.method != "POST":
            return None
        if call is not None and call.many is None:
            return inspection.attempt(lambda: self.construct(call, many=True), RETURN_EARLY, None)
        own = getattr(self.view, "get_serializer", None)
        if own is None or is_drf_code(type(self.view), "get_serializer"):
            return None
        if call is not None and (call.serializer_class is not None or call.many):
            return None
        # A get_serializer() of the project's may set ``many`` where the data is a list.
        rows = attempt(lambda: own(data=[]), None)
        return rows if isinstance(rows, ListSerializer) else None

    def construct(self, call: SerializerCall, *, many: bool = False) -> Any:
        options = {**self.options, **({"many": True} if many or call.many else {})}
        if call.serializer_class is None:
            return self.view.get_serializer(**options)
        # An attribute of the view's class may be another one on the instance.
        own: Any = call.serializer_class
        if call.attribute:
            own = getattr(self.view, call.attribute)
        return own(context=self.context, **options)

    @property
    def context(self) -> dict[str, Any]:
        stock = {"view": self.view, "request": getattr(self.view, "request", None)}
        if not hasattr(self.view, "get_serializer_context"):
            return stock
        # A context that needs a caller is replaced by REST framework's own.
        return attempt(self.view.get_serializer_context, None) or stock
