"""One endpoint under inspection: the view, its handler, and what was found on the way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from rest_framework.viewsets import ViewSetMixin

from drf_mcp.introspection.annotations import find_annotations
from drf_mcp.introspection.locations import place_of
from drf_mcp.introspection.portable import PortableWriter
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.handlers import HandlerReading, read_handler
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.source.trees import get_synchronous_name
from drf_mcp.introspection.types import UNSAID, Finding, Schema
from drf_mcp.introspection.unsent_request import negotiate, unsent_request

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
        self.heeds_request = True  # what people wrote of the request counts
        self.written: Any = UNSAID  # what they wrote, once that is known
        self.place = place_of(type(view))
        self.handler_name = self.attempt(self.find_handler, GUARD, self.method.lower())
        self.place = f"{self.place}.{self.handler_name}"

    def again(self, view: Any = None) -> Inspection:
        """Return a new inspection of the endpoint, by another view instance or a fresh one."""
        view = copy.copy(self.untouched) if view is None else view
        own = Inspection(view, self.method, portable=self.portable)
        own.heeds_request = self.heeds_request
        return own

    def find_handler(self) -> str:
        """Return the name of the method that answers: the action, or the HTTP method."""
        method = self.method.lower()
        action_map = getattr(self.view, "action_map", None) or {}
        return str(getattr(self.view, "action", None) or action_map.get(method, method))

    @cached_property
    def reading(self) -> HandlerReading | None:
        """What the handler's source shows; None if it has none."""
        return self.attempt(lambda: read_handler(type(self.view), self.handler_name), PLAINLY, None)

    @cached_property
    def annotations(self) -> Any:
        """What people wrote about the endpoint for drf-spectacular, None if nothing."""
        return self.attempt(
            lambda: find_annotations(self.view, self.handler_name, self.method), ANNOTATE, None
        )

    def get_declared_parameters(self, location: str) -> dict[str, Any]:
        """Return the OpenAPI parameters that people wrote, by name; None for one taken out."""
        if self.annotations is None:
            return {}
        written: dict[tuple[str, str], Any] = {}
        written = self.attempt(self.annotations.parameters, ANNOTATE, written)
        return {name: declared for (name, at), declared in written.items() if at == location}

    def shaped(self, schema: Schema) -> Schema:
        """Return a schema for input in the portable subset, or as it is if that was chosen."""
        return PortableWriter.write(schema) if self.portable else schema

    @property
    def calls(self) -> frozenset[str]:
        """The names of the methods that the handler calls on the view."""
        return self.reading.calls if self.reading is not None else frozenset()

    @property
    def is_extra_action(self) -> bool:
        """True for an action of the project's own, beside the standard ones of a viewset."""
        return self.is_viewset and get_synchronous_name(self.handler_name) not in STANDARD

    @property
    def shares_handler(self) -> bool:
        """True if the handler answers other methods too."""
        view_class, map_of_actions = type(self.view), getattr(self.view, "action_map", None)
        names = (map_of_actions or dict.fromkeys(view_class.http_method_names)).items()
        handlers = [getattr(view_class, name or method, None) for method, name in names]
        return handlers.count(getattr(view_class, self.handler_name, None)) > 1

    @property
    def is_viewset(self) -> bool:
        """True if the handlers of the view are actions."""
        return isinstance(self.view, ViewSetMixin)

    @cached_property
    def privileged(self) -> Inspection:
        """The same endpoint, as an unsaved superuser would find it."""
        user: Any = get_user_model()()
        user.is_active = user.is_staff = user.is_superuser = True
        view = copy.copy(self.untouched)
        view.request = unsent_request(self.method, view.request.path, user)
        negotiate(view)
        privileged = self.again(view)
        vars(privileged)["privileged"] = privileged
        return privileged

    @cached_property
    def queryset(self) -> Any:
        """The view's queryset, or all rows of its serializer's model; None without a model.

        A view that refuses an anonymous caller is asked again as a superuser.
        """
        known = len(self.findings)
        found = self.made_queryset
        if found is None:
            found = self.asked_quietly(lambda: self.all_rows)
        if found is not None:
            del self.findings[known:]
        return found

    @property
    def all_rows(self) -> Any:
        """The declared queryset, or all rows of the serializer's model; None without either."""
        declared = getattr(self.view, "queryset", None)
        if hasattr(declared, "model"):
            return declared
        model = model_of_class(self.view) or self.chosen_model
        return None if model is None else model._default_manager.all()

    @property
    def made_queryset(self) -> Any:
        """What the view's `get_queryset` gives to one caller or another, None if nothing."""
        view = self.view
        if not hasattr(view, "get_queryset"):
            return None
        if getattr(view, "queryset", None) is None and is_drf_code(type(view), "get_queryset"):
            return None
        found = self.attempt(view.get_queryset, GUARD, None)
        if not hasattr(found, "model"):
            found = self.asked_quietly(lambda: self.privileged.view.get_queryset())
        return found if hasattr(found, "model") else None

    @property
    def chosen_model(self) -> Any:
        """The model of the serializer that the view chooses, None if it chooses none."""
        view: Any = self.view
        chosen = self.asked_quietly(lambda: view.get_serializer_class())
        if chosen is None:
            chosen = self.asked_quietly(lambda: self.privileged.view.get_serializer_class())
        return model_of_serializer(chosen)

    @cached_property
    def model(self) -> Any:
        """The model of the view's queryset, or else of its serializer; None if there is none."""
        declared = getattr(getattr(self.view, "queryset", None), "model", None)
        return declared or getattr(self.queryset, "model", None)

    def asked_quietly(self, step: Callable[[], Any]) -> Any:
        """Run one guarded step that may fail without a loss: None if it does."""
        nothing: Any = None
        return attempt(self.place, step, "", [], nothing)

    def attempt(self, step: Callable[[], Value], remedy: str, default: Value) -> Value:
        """Run one guarded step of the inspection."""
        return attempt(self.place, step, remedy, self.findings, default)

    def find(self, message: str, remedy: str) -> None:
        """Add a finding of our own."""
        self.findings.append(Finding(self.place, message, remedy))


def model_of_class(view: Any) -> Any:
    """Return the model that a view's attributes name, None if they name none."""
    declared = getattr(getattr(view, "queryset", None), "model", None)
    return declared or model_of_serializer(getattr(view, "serializer_class", None))


def model_of_serializer(serializer_class: Any) -> Any:
    """Return the model of a serializer class, None if it has none."""
    return getattr(getattr(serializer_class, "Meta", None), "model", None)


def model_of(view: Any) -> Any:
    """Return the model that a view is about: its queryset's or its serializer's."""
    return Inspection(view, str(view.request.method)).model
