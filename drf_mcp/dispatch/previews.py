"""Asks a view what a call would do: its permissions, its object and its own preview."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from django.db.models import Model
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from django.utils.translation import gettext as _
from rest_framework.response import Response

from drf_mcp.dispatch.bare_callbacks import BareCallback
from drf_mcp.dispatch.blockers import Listings
from drf_mcp.dispatch.cascades import Cascade
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.dispatch.errors.exceptions import Blockers, find_violation
from drf_mcp.dispatch.list_hints import ListHint
from drf_mcp.dispatch.middleware import transactions
from drf_mcp.dispatch.request import ToolRequest, make_unthrottled_view, names_an_object
from drf_mcp.exceptions import contain
from drf_mcp.guards.base import PendingCall
from drf_mcp.guards.preview import Preview
from drf_mcp.interaction.state import hash_json
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.text import get_model_name
from drf_mcp.outcomes import Failure, Outcome
from drf_mcp.tools.tool import Tool

# Characters of what an object says of itself.
LONGEST_LABEL = 200
# A method of a view by this name and that of a handler says what the handler would do.
PREFIX = "preview_"


class Previewer:
    """Runs a call as far as the view's handler, in whose place it looks at the object.

    Args:
        dispatcher: the `Dispatcher` that would make the call.
        pending: the call.
    """

    def __init__(self, dispatcher: Any, pending: PendingCall) -> None:
        self.dispatcher = dispatcher
        self.pending = pending
        self.tool = pending.tool
        self.callback = BareCallback.of(pending.tool.endpoint.route.callback)
        self.found: Preview | Failure | None = None

    def preview(self) -> Preview | Outcome:
        if self.callback is None:
            # A decorator may refuse the call, and does not run here: nothing is said of the object.
            return Preview()
        pending, dispatcher = self.pending, self.dispatcher
        # A queryset may lock its rows, which takes a transaction.
        respond = transactions.make_view_atomic(self.respond)
        outcome: Outcome = dispatcher.perform_call(
            self.tool, pending.call, pending.caller, pending.request_id, respond
        )
        if isinstance(self.found, Failure):
            refused: Outcome = dispatcher.get_failed_outcome(self.tool, 409, self.found)
            return refused
        if self.found is None or outcome.failure is not None:
            refused = ListHint(self.tool).add_to(outcome)
            return refused
        return self.found

    def respond(self, request: ToolRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        view = self.make_view(request.resolver_match)  # type: ignore[arg-type]
        self.callback.bind(view, request, *args, **kwargs)  # type: ignore[union-attr]
        setattr(view, self.tool.endpoint.method.lower(), functools.partial(self.look, view))
        response: HttpResponseBase = view.dispatch(request, *args, **kwargs)
        return response

    def make_view(self, match: ResolverMatch) -> Any:
        return make_unthrottled_view(self.tool.endpoint, match)

    def look(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
        instance = view.get_object() if names_an_object(view) else None
        own = getattr(view, f"{PREFIX}{self.tool.endpoint.handler_name}", None)
        said = None if own is None else json.loads(encode_data(own(request, *args, **kwargs)))
        cascade = None
        if self.tool.endpoint.method == "DELETE" and isinstance(instance, Model):
            cascade = Cascade(instance)
        self.found = self.find_conflict(view, cascade) or self.describe(instance, cascade, said)
        return Response(status=204)

    def find_conflict(self, view: Any, cascade: Cascade | None) -> Failure | None:
        # Where nothing of the project's own deletes, what Django refuses is refused for certain.
        if cascade is None or cascade.refusal is None:
            return None
        steps = {"destroy", "perform_destroy", self.tool.endpoint.handler_name}
        is_plain = is_drf_code(type(view), *(step for step in steps if hasattr(view, step)))
        if not is_plain or type(cascade.instance).delete is not Model.delete:
            return None
        return find_violation(cascade.refusal, self.listings.name_blockers)

    @property
    def listings(self) -> Listings:
        return Listings(self.tool.finders, self.pending.caller)

    def describe(self, instance: Any, cascade: Cascade | None, own: Any) -> Preview:
        deleted = {} if cascade is None else cascade.deleted
        changed = {} if cascade is None else cascade.changed
        refusal = None if cascade is None else cascade.refusal
        blockers = {} if refusal is None else Blockers.from_exception(refusal)
        listings = self.listings
        rows = [{m._meta.label: keys for m, keys in found.items()} for found in (deleted, changed)]
        return Preview(
            self.get_label(instance),
            listings.describe(deleted),
            listings.describe(changed),
            listings.describe(blockers),
            own,
            hash_json([self.get_values(instance), *rows, list(blockers.values()), own]),
        )

    def get_label(self, instance: Any) -> str:
        if instance is None:
            return ""
        # What an object says of itself is the project's code, and no reason to fail.
        said = contain(lambda: str(instance), lambda exc: str(getattr(instance, "pk", "")))
        label = " ".join(said.split())[:LONGEST_LABEL]
        name = get_model_name(type(instance)) if isinstance(instance, Model) else ""
        facts = {"model": name, "label": label}
        return (_("%(model)s “%(label)s”") if name else _("“%(label)s”")) % facts

    def get_values(self, instance: Any) -> Any:
        if not isinstance(instance, Model):
            return str(instance)
        fields = instance._meta.concrete_fields
        return [str(instance.pk), {f.attname: f.value_to_string(instance) for f in fields}]


class Admission(Previewer):
    """Asks the permissions and throttles of a view, and whether it has the object."""

    def find_refusal(self) -> Outcome | None:
        # Of several objects each has its own outcome.
        call = self.pending.call
        found = None if call.is_batch else self.preview()
        return found if isinstance(found, Outcome) else None

    def make_view(self, match: ResolverMatch) -> Any:
        view = super().make_view(match)
        # This is the call that counts.
        del view.check_throttles
        return view

    def look(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
        if names_an_object(view):
            view.get_object()
        self.found = Preview()
        return Response(status=204)


def get_rerun_callback(tool: Tool, match: ResolverMatch) -> Callable[..., HttpResponseBase] | None:
    """Return what makes a call that was let in before, None where only the route's callback can."""
    bare = BareCallback.of(tool.endpoint.route.callback)
    return bare and bare.by(lambda: make_unthrottled_view(tool.endpoint, match))
