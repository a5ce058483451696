"""One endpoint under inspection: the view, its handler, and what was found on the way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from rest_framework.viewsets import ViewSetMixin

from drf_mcp.schemas.annotations.carried import annotations_of
from drf_mcp.schemas.attempts import attempt
from drf_mcp.schemas.places import place_of
from drf_mcp.schemas.portable import portable
from drf_mcp.schemas.source.handlers import Reading, read
from drf_mcp.schemas.source.stock import is_stock
from drf_mcp.schemas.source.twins import plain_name
from drf_mcp.schemas.values import Finding, Schema

Value = TypeVar("Value")

GUARD = (
    "Return early from what needs a caller or a URL when"
    " getattr(self, 'swagger_fake_view', False) is true."
)
ANNOTATE = "Check what @extend_schema says of the handler."
PLAINLY = "Write the handler as a plain method."
STANDARD = ("list", "retrieve", "create", "partial_update", "update", "destroy")
"""The actions of REST framework's mixins; a partial update is an update as well."""


class Inspection:
    """A view instance set up for one action and method, and the findings about it."""

    def __init__(self, view: Any, method: str, *, portable: bool = True) -> None:
        self.view = view
        # Views remember on themselves what they chose for whom.
        self.untouched = copy.copy(view)
        self.method = method.upper()
        self.portable = portable
        self.findings: list[Finding] = []
        self.serializer: Any = None  # what reads the body, once that is known
        self.place = place_of(type(view))
        self.handler_name = self.attempt(self.find_handler, GUARD, self.method.lower())
        self.place = f"{self.place}.{self.handler_name}"

    def find_handler(self) -> str:
        """Return the name of the method that answers: the action, or the HTTP method."""
        method = self.method.lower()
        action_map = getattr(self.view, "action_map", None) or {}
        return str(getattr(self.view, "action", None) or action_map.get(method, method))

    @cached_property
    def reading(self) -> Reading | None:
        """What the handler's source shows; None if it has none."""
        return self.attempt(
            lambda: read(type(self.view), self.handler_name, self.method), PLAINLY, None
        )

    @cached_property
    def annotations(self) -> Any:
        """What people wrote about the endpoint for drf-spectacular, None if nothing."""
        return self.attempt(
            lambda: annotations_of(self.view, self.handler_name, self.method), ANNOTATE, None
        )

    def shaped(self, schema: Schema) -> Schema:
        """Return a schema for input in the portable subset, or as it is if that was chosen."""
        return portable(schema) if self.portable else schema

    @property
    def calls(self) -> frozenset[str]:
        """The names of the methods that the handler calls on the view."""
        return self.reading.calls if self.reading is not None else frozenset()

    @property
    def is_extra_action(self) -> bool:
        """True for an action of the project's own, beside the standard ones of a viewset."""
        return self.is_viewset and plain_name(self.handler_name) not in STANDARD

    @property
    def is_viewset(self) -> bool:
        """True if the handlers of the view are actions."""
        return isinstance(self.view, ViewSetMixin)

    @cached_property
    def queryset(self) -> Any:
        """The view's queryset, None if it has none or needs a caller to give it."""
        if not hasattr(self.view, "get_queryset"):
            return None
        fallback = getattr(self.view, "queryset", None)
        if fallback is None and is_stock(type(self.view), "get_queryset"):
            return None
        return self.attempt(self.view.get_queryset, GUARD, fallback)

    @cached_property
    def model(self) -> Any:
        """The model of the view's queryset, or else of its serializer; None if there is none."""
        declared = getattr(self.view, "queryset", None)
        model = getattr(self.queryset if declared is None else declared, "model", None)
        serializer_class = getattr(self.view, "serializer_class", None)
        return model or getattr(getattr(serializer_class, "Meta", None), "model", None)

    def attempt(self, step: Callable[[], Value], remedy: str, default: Value) -> Value:
        """Run one guarded step of the inspection."""
        return attempt(self.place, step, remedy, self.findings, default)

    def find(self, message: str, remedy: str) -> None:
        """Add a finding of our own."""
        self.findings.append(Finding(self.place, message, remedy))


def model_of(view: Any) -> Any:
    """Return the model that a view is about: its queryset's or its serializer's."""
    return Inspection(view, str(view.request.method)).model
