"""Titles and descriptions of tools, from what people wrote about their views."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from rest_framework.views import APIView

from drf_mcp.introspection.annotations import find_annotations
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import model_name, model_names, text
from drf_mcp.tools.endpoints import Endpoint

MAX_LENGTH = 1024
VERBS = {
    "list": "List {plural}",
    "retrieve": "Get one {single}",
    "create": "Create {article} {single}",
    "update": "Replace {article} {single}",
    "partial_update": "Change fields of {article} {single}",
    "destroy": "Delete {article} {single}",
}


class ViewTexts:
    """Title and description of an endpoint, from what people wrote about its view.

    Args:
        endpoint: the endpoint.
        view: an instance of the view, for introspection.
    """

    def __init__(self, endpoint: Endpoint, view: APIView) -> None:
        self.endpoint = endpoint
        self.view = view

    @functools.cached_property
    def annotations(self) -> Any:
        """What people wrote about the endpoint for drf-spectacular, None if nothing."""
        endpoint = self.endpoint
        return attempt(
            endpoint.place,
            lambda: find_annotations(self.view, endpoint.handler_name, endpoint.method),
            "",
            [],
            None,
        )

    def get_title(self) -> str:
        """Return a written summary, or the verb and the model's verbose name; "" without both."""
        endpoint = self.endpoint
        if self.annotations is not None and self.annotations.summary:
            return text(self.annotations.summary)
        action, model = endpoint.standard_action, Inspection(self.view, endpoint.method).model
        if model is None or action is None:
            return ""
        single = model_name(model)
        if action in VERBS:
            article = "an" if single[:1].lower() in "aeio" else "a"
            return VERBS[action].format(article=article, single=single, plural=model_names(model))
        many = getattr(self.view, "detail", True) is False
        method = f"{endpoint.method.lower()}: " if endpoint.action_has_other_methods else ""
        title = f"{method}{action.replace('_', ' ')} {model_names(model) if many else single}"
        # `str.capitalize` would take the capitals of the other words away.
        return f"{title[:1].upper()}{title[1:]}"

    def get_description(self, title: str) -> str:
        """Return what people wrote, nearest first: the schema, the action, the view, the title.

        The docstring of a view with several methods stands behind the title, and that of an
        action with several behind the method, since it is the same for all of them.
        """
        endpoint, docstring = self.endpoint, project_docstring(self.endpoint.handler)
        description = getattr(self.annotations, "description", "") or docstring
        if description and description == docstring and endpoint.action_has_other_methods:
            description = f"{endpoint.method.capitalize()}: {description}"
        if not description:
            about = self.get_view_description()
            is_extra = endpoint.standard_action not in VERBS
            alone = about and is_extra and not endpoint.view_has_other_methods
            description = about if alone else f"{title}. {about}"
        deprecated = getattr(self.annotations, "is_deprecated", False)
        return cut_text(f"Deprecated. {description}" if deprecated else description)

    def get_view_description(self) -> str:
        """Return the view's ``description``, as REST framework asks for it, or its docstring."""
        description = attempt(
            self.endpoint.place,
            lambda: str(getattr(self.view, "description", None) or ""),
            "",
            [],
            "",
        )
        return inspect.cleandoc(description) or project_docstring(self.endpoint.view_class)


def project_docstring(target: Callable[..., Any]) -> str:
    """Return a docstring that the project wrote, not one that REST framework did."""
    if target.__module__.partition(".")[0] == "rest_framework" or not target.__doc__:
        return ""
    return inspect.cleandoc(target.__doc__)


def cut_text(text: str, limit: int = MAX_LENGTH) -> str:
    # At the end of a word.
    text = text.strip()
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(None, 1)[0].rstrip(".,;:") + "…"
