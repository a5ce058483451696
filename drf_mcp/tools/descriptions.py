"""Titles and descriptions of tools, from what people wrote about their views."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rest_framework.views import APIView

from drf_mcp.introspection import annotations_of, attempt, model_of
from drf_mcp.introspection.text import model_name, model_names, text
from drf_mcp.tools.naming import standard_action
from drf_mcp.tools.routes import UNSERVED_METHODS, Endpoint

MAX_LENGTH = 1024
VERBS = {
    "list": "List {plural}",
    "retrieve": "Get one {single}",
    "create": "Create {article} {single}",
    "update": "Replace {article} {single}",
    "partial_update": "Change fields of {article} {single}",
    "destroy": "Delete {article} {single}",
}


def title_of(endpoint: Endpoint, view: APIView, name: str) -> str:
    """Return a title: a written summary, the verb and the model's verbose name, or the name."""
    annotations = written_about(endpoint, view)
    if annotations is not None and annotations.summary:
        return text(annotations.summary)
    action = standard_action(endpoint)
    model = model_of(view)
    if model is None or action is None:
        return name.replace("_", " ").capitalize()
    single = model_name(model)
    if action in VERBS:
        article = "an" if single[:1].lower() in "aeio" else "a"
        return VERBS[action].format(article=article, single=single, plural=model_names(model))
    many = getattr(view, "detail", True) is False
    words = f"{action.replace('_', ' ')} {model_names(model) if many else single}"
    method = f"{endpoint.method.lower()}: " if serves_others(endpoint) else ""
    return sentence(f"{method}{words}")


def description_of(endpoint: Endpoint, view: APIView, title: str) -> str:
    """Return what people wrote, nearest first: the schema, the action, the view, the model.

    The docstring of a view with several methods stands behind the title, and that of an
    action with several behind the method, since it is the same for all of them.
    """
    annotations = written_about(endpoint, view)
    written = getattr(annotations, "description", "") or own_docstring(endpoint.handler)
    about = about_view(endpoint, view)
    if written and written == own_docstring(endpoint.handler) and serves_others(endpoint):
        written = f"{endpoint.method.capitalize()}: {written}"
    if not written:
        alone = about and standard_action(endpoint) not in VERBS and not has_others(endpoint)
        written = about if alone else f"{title}. {about}"
    deprecated = getattr(annotations, "is_deprecated", False)
    return cut(f"Deprecated. {written}" if deprecated else written)


def sentence(words: str) -> str:
    """Return words with a capital at their beginning, the others as they were written."""
    return f"{words[:1].upper()}{words[1:]}"


def serves_others(endpoint: Endpoint) -> bool:
    """Return whether the action that answers does so for other methods as well."""
    actions: dict[str, str] = getattr(endpoint.route.callback, "actions", None) or {}
    served = [m for m in actions if actions[m] == endpoint.action and m not in UNSERVED_METHODS]
    return len(served) > 1


def has_others(endpoint: Endpoint) -> bool:
    """Return whether the docstring of the view is about other methods or actions as well."""
    if endpoint.action is not None:
        return serves_others(endpoint)
    methods = {*endpoint.view_class.http_method_names} - UNSERVED_METHODS
    return len([m for m in methods if hasattr(endpoint.view_class, m)]) > 1


def written_about(endpoint: Endpoint, view: APIView) -> Any:
    """Return what people wrote about an endpoint for drf-spectacular, None if nothing."""
    handler = endpoint.action or endpoint.method.lower()
    return attempt(
        endpoint.place, lambda: annotations_of(view, handler, endpoint.method), "", [], None
    )


def own_docstring(target: Callable[..., Any]) -> str:
    """Return a docstring that the project wrote, not one that REST framework did."""
    if target.__module__.partition(".")[0] == "rest_framework" or not target.__doc__:
        return ""
    return inspect.cleandoc(target.__doc__)


def about_view(endpoint: Endpoint, view: APIView) -> str:
    """Return a view's ``description``, as REST framework asks for it, or else its docstring."""
    said = attempt(
        endpoint.place, lambda: str(getattr(view, "description", None) or ""), "", [], ""
    )
    return inspect.cleandoc(said) or own_docstring(endpoint.view_class)


def cut(text: str, limit: int = MAX_LENGTH) -> str:
    """Cut text to the limit at the end of a word."""
    text = text.strip()
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(None, 1)[0].rstrip(".,;:") + "…"
