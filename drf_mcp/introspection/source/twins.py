"""Asynchronous twins of REST framework's methods, by the names that packages give them."""

from __future__ import annotations

ACTIONS = {
    "alist": "list",
    "aretrieve": "retrieve",
    "acreate": "create",
    "aupdate": "update",
    "partial_aupdate": "partial_update",
    "adestroy": "destroy",
}
HOOKS = {
    "aget_object": "get_object",
    "aget_queryset": "get_queryset",
    "afilter_queryset": "filter_queryset",
    "apaginate_queryset": "paginate_queryset",
    "get_apaginated_response": "get_paginated_response",
}
TWINS = {**ACTIONS, **HOOKS}


def plain_name(name: str) -> str:
    """Return the name of the method that a method is the twin of, its own if it is none."""
    return TWINS.get(name, name)
