"""The object that a call names: its row, and what its caller may be shown of it before the call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.db import router
from django.db.models import CASCADE, Model

from drf_mcp.access.authentication import Caller
from drf_mcp.arguments.call import Call
from drf_mcp.arguments.errors import MASK, escape_unprintable, mask_member
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.dispatch.probe import REFUSALS, Probe, can_be_asked, is_taken_away, rolling_back
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.source.members import find_mentioned
from drf_mcp.introspection.text import find_model_name
from drf_mcp.json_text import hash_json

# Characters of a value, and of the name of a member.
LONGEST_VALUE, LONGEST_NAME = 100, 40


@dataclass(frozen=True)
class ShownObject:
    """The object of a call, as the retrieve tool of the same view shows it to the caller.

    Attributes:
        label: the verbose name of the model, and the key, such as ``order 7``.
        members: the first members of the answer: masked, and each a short text, a number, a boolean
            or null. {} where no retrieve tool shows the object to the caller.
        cascades: whether rows of other models are deleted with a row of the model.
    """

    label: str
    members: Mapping[str, Any]
    cascades: bool = False

    @property
    def lines(self) -> Iterator[str]:
        """The label, and a line for each member; no text of a row can end its quotation."""
        yield self.label
        for name, value in self.members.items():
            shown = name if name.isidentifier() else _quote_value(name)
            yield f"{shown}: {_quote_value(value)}"

    @property
    def data(self) -> dict[str, Any]:
        """The object as JSON."""
        return {"object": self.label, **({"shown": dict(self.members)} if self.members else {})}


class CallObject:
    """Asks a view about the object that a call names, for the caller, and runs no handler that
    writes.

    Args:
        caller: who is shown the object.
        tool: the tool that is called.
        bound: the arguments of a call about one object.
    """

    def __init__(self, caller: Caller, tool: Any, bound: Call) -> None:
        self.caller = caller
        self.tool = tool
        self.bound = bound

    @property
    def key(self) -> Any:
        """The key of the object in the arguments, None for a call that names no object."""
        return self.bound.kwargs.get(self.tool.endpoint.key_kwarg)

    @cached_property
    def _reading_tool(self) -> Any:
        """The retrieve tool of the same view, None where the caller has no such tool."""
        related, endpoint = self.tool.related, self.tool.endpoint
        reader = related and related.find_read(endpoint.object_path)
        if not reader or reader.view_class is not endpoint.view_class:
            return None
        name = next(name for name, each in related.endpoints.items() if each is reader)
        options = related.options[name]
        both = replace(options, omit=(*options.omit, *self.tool.options.omit))
        tool = replace(self.tool.for_endpoint(reader), name=name, options=both)
        return None if is_taken_away(self.caller, tool) else tool

    def read(self) -> ViewResponse | None:
        """Return what the retrieve tool answers the caller, None where it refuses."""
        if (tool := self._reading_tool) is None:
            return None
        named = tool.endpoint.route.kwargs
        kwargs = {name: value for name, value in self.bound.kwargs.items() if name in named}
        try:
            answer = Probe(self.caller, tool, Call({}, kwargs)).read()
        except REFUSALS:
            return None
        return answer if answer.status < 300 else None

    def read_members(self) -> Mapping[str, Any]:
        """Return the object as the retrieve tool shows it, as JSON; {} where it does not."""

        def read_data() -> Any:
            answer = self.read()
            return None if answer is None else AnswerEncoder().plain(answer.content.data)

        data = attempt(read_data, None)
        return data if isinstance(data, Mapping) else {}

    def show(self, most: int = 10) -> ShownObject | None:
        """Return what the caller may be shown of the object, None for a call that names none."""
        if (key := self.key) is None:
            return None
        model = self.tool.endpoint.model
        name = "object" if model is None else find_model_name(model)
        secret = self.tool.arguments.write_only
        members = {}
        for member, value in list(self.read_members().items())[:most]:
            own = f"/{member}" in secret
            members[member[:LONGEST_NAME]] = MASK if own else _shorten_member(member, value)
        cascades = model is not None and has_cascades(model)
        return ShownObject(f"{name} {_quote_value(key)}", members, cascades)

    def find_row(self, *, is_locked: bool = False) -> Model | None:
        """Return the present row of the object, None where the view refuses the caller the object.

        A locked row stays so until the caller's transaction ends.
        """
        if not can_be_asked(self.tool.endpoint):
            # A decorator may refuse the call, and does not run here.
            return None
        probe = Probe(self.caller, self.tool, self.bound)
        probe.keeps_locks = is_locked

        def look(view: Any, *args: Any, **kwargs: Any) -> Model | None:
            known = get_named_object(view)
            if not isinstance(known, Model):
                return None
            rows = type(known)._base_manager.using(router.db_for_write(type(known), instance=known))
            return (rows.select_for_update() if is_locked else rows).filter(pk=known.pk).first()

        with nullcontext() if is_locked else rolling_back():
            return attempt(lambda: probe.ask(look), None)

    def hash_state(self) -> str:
        """Return a hash of the row, or of what is shown where the row is not known."""
        row = self.find_row()
        return hash_json(self.read_members()) if row is None else hash_row(row)


GETTERS = frozenset({"get_object", "aget_object"})
# Code that catches these may do without the object, such as a PUT that creates it.
MISSES = frozenset({"Http404", "NotFound"})


def find_object(view: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the object that a view's handler is going to find, None where that is not known.

    Raises:
        APIException, Http404, PermissionDenied: if the view refuses the caller the object.
    """
    handler = getattr(view, "action", None) or view.request.method.lower()
    return get_named_object(view) if gets_object(type(view), handler) else None


def gets_object(view_class: type, handler: str, known: frozenset[str] = frozenset()) -> bool:
    """Return whether a handler calls ``get_object()``, as far as the code of the view shows."""
    for base in view_class.__mro__:
        if handler not in vars(base):
            continue
        names = find_mentioned(vars(base)[handler])
        reading = known | {handler}
        others = {each for each in names - reading if callable(getattr(view_class, each, None))}
        if names & GETTERS:
            return not names & MISSES
        if any(gets_object(view_class, each, reading) for each in others):
            return True
        if handler not in names:
            # It does not call the method of the next class.
            return False
    return False


def hash_row(row: Model) -> str:
    """Return a hash of the values of all columns of a row."""
    values = [field.value_to_string(row) for field in row._meta.concrete_fields]
    return hash_json([row._meta.label, values])


def has_cascades(model: Any) -> bool:
    """Return whether Django deletes rows of other models with a row of a model."""
    related = model._meta.related_objects
    generic = (hasattr(each, "bulk_related_objects") for each in model._meta.private_fields)
    return any(generic) or any(
        getattr(each, "on_delete", None) is CASCADE and not each.field.remote_field.parent_link
        for each in related
    )


def _shorten_member(name: str, value: Any) -> Any:
    masked = mask_member(name, value)
    if masked is None or isinstance(masked, (bool, int, float)):
        return masked
    text = masked if isinstance(masked, str) else json.dumps(masked, ensure_ascii=False)
    text = " ".join(text.split())
    cut = escape_unprintable(text, LONGEST_VALUE)
    return f"{cut}…" if len(text) > LONGEST_VALUE else cut


def _quote_value(value: Any) -> str:
    """Return a value of a row as JSON in one line, whose quotation no text of a row can end."""
    return json.dumps(_shorten_member("", value), ensure_ascii=False)
