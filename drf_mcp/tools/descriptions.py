"""Titles and descriptions of tools, from what people wrote about their views."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from django.utils.encoding import force_str
from rest_framework.views import APIView

from drf_mcp.schemas import annotations_of, attempt, model_of
from drf_mcp.schemas.words import text
from drf_mcp.tools.names import standard_action
from drf_mcp.tools.routes import Endpoint

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
    single = force_str(model._meta.verbose_name)
    if action in VERBS:
        article = "an" if single[:1].lower() in "aeio" else "a"
        plural = model._meta.verbose_name_plural
        return VERBS[action].format(article=article, single=single, plural=plural)
    words = action.replace("_", " ").capitalize()
    many = getattr(view, "detail", True) is False
    return f"{words} {model._meta.verbose_name_plural if many else single}"


def description_of(endpoint: Endpoint, view: APIView, title: str) -> str:
    """Return what people wrote, nearest first: the schema, the action, the view, the model.

    The docstring of a view with several standard actions stands behind the title, since
    it is the same for all of them.
    """
    annotations = written_about(endpoint, view)
    written = getattr(annotations, "description", "") or own_docstring(endpoint.handler)
    about = own_docstring(endpoint.view_class)
    if not written:
        alone = about and standard_action(endpoint) not in VERBS
        written = about if alone else f"{title}. {about}"
    deprecated = getattr(annotations, "is_deprecated", False)
    return cut(f"Deprecated. {written}" if deprecated else written)


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


def cut(text: str, limit: int = MAX_LENGTH) -> str:
    """Cut text to the limit at the end of a word."""
    text = text.strip()
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(None, 1)[0].rstrip(".,;:") + "…"
