"""Answers that are stored for a caller, and who may read them later."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.apps import apps
from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView

from drf_mcp.access.authentication import Caller
from drf_mcp.access.authentication_reuse import is_undecorated
from drf_mcp.access.scopes import ask_view_for_rights, get_rights_fingerprint
from drf_mcp.dispatch.probe import REFUSALS, Identities, Probe
from drf_mcp.dispatch.request import is_asynchronous, names_an_object
from drf_mcp.dispatch.shown_rows import Sealed, ShownList, find_every_key, find_keys
from drf_mcp.exceptions import catch, contain
from drf_mcp.introspection.source.members import is_drf_code, unwrap_function
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import Call

# Seconds for which an answer is stored where only code of the project knows who may read it.
SHORT_LIFETIME = 15 * 60
# Packages whose decorators refuse no caller, but for those of ``django.contrib.auth``.
PACKAGES = frozenset({"adrf", "django", "rest_framework"})
CHOOSES_FIELDS = ("get_serializer_class", "get_serializer", "get_serializer_context")
MAKES_FIELDS = ("__init__", "get_fields", "get_field_names", "to_representation")


@functools.lru_cache(maxsize=4096)
def has_own_handler(endpoint: Any) -> bool:
    """Return whether code of the project's own makes the answer of an endpoint."""
    names = {endpoint.handler_name, endpoint.standard_action or endpoint.handler_name}
    return not is_drf_code(endpoint.view_class, *names)


@functools.lru_cache(maxsize=4096)
def shows_fields_by_caller(endpoint: Any) -> bool:
    """Return whether fields of the answer may depend on who is calling."""
    view_class = endpoint.view_class
    if not issubclass(view_class, GenericAPIView):
        return False
    own = endpoint.route.initkwargs.get("serializer_class")
    serializer_class = own or getattr(view_class, "serializer_class", None)
    is_stock = serializer_class is None or is_drf_code(serializer_class, *MAKES_FIELDS)
    return not is_stock or not is_drf_code(view_class, *CHOOSES_FIELDS)


def get_lifetime(endpoint: Any, lists: Sequence[ShownList]) -> int | None:
    """Return for how many seconds an answer with these lists is stored, None for no limit."""
    # Without known lists, a renderer, a paginator or middleware of the project made the rows.
    is_own = has_own_handler(endpoint) or (endpoint.standard_action == "list" and not lists)
    return SHORT_LIFETIME if is_own or shows_fields_by_caller(endpoint) else None


def keeps_answers(tool: Any) -> bool:
    """Return whether the parts that a tool's results leave out are stored."""
    own = (tool.options.archive, getattr(tool.endpoint.view_class, "archive", None))
    return False not in own and can_be_asked(tool.endpoint)


@functools.lru_cache(maxsize=4096)
def can_be_asked(endpoint: Any) -> bool:
    """Return whether no decorator of a view refuses callers: a `Probe` does not run decorators."""
    callback = endpoint.route.callback
    layers = [layer for layer, _ in unwrap_function(callback)]
    # Packages for asynchronous views make callbacks of their own.
    if is_undecorated(callback) or (is_asynchronous(callback) and len(layers) == 1):
        return True
    modules = [str(layer.__globals__["__name__"]) for layer in layers if not is_undecorated(layer)]
    return bool(layers) and all(
        module.partition(".")[0] in PACKAGES and not module.startswith("django.contrib.auth")
        for module in modules
    )


MADE = gettext_noop(
    "The change was made before, and is not made again. Its answer is not given: your rights are "
    "others than they were then. Read what was changed."
)
FAILED = gettext_noop(
    "The call failed. Its answer is not given: your rights are others than they were then."
)
HOOKS = ("get_rights_fingerprint", "may_retrieve")


class RightsChanged(PermissionDenied):
    """The caller's rights are others than when the answer was made."""


@dataclass(frozen=True)
class ReadableRows:
    """What the caller may read of a stored answer now.

    Attributes:
        rights: a hash of the caller's rights.
        keys: the primary keys of the rows that the view finds, as text.
    """

    rights: str
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RowsQuestion:
    """What a view is asked about a stored answer.

    Attributes:
        model: the label of the model of its rows.
        keys: the primary keys of the rows that are looked for.
        names_object: whether the view has to find the object that the URL names.
        archived: the entry of the archive, for ``may_retrieve(request, archived)`` of the view.
    """

    model: str = ""
    keys: Collection[Any] = ()
    names_object: bool = True
    archived: Any = None

    def ask(self, view: Any, request: Any, caller: Caller) -> ReadableRows:
        if self.names_object and names_an_object(view):
            view.get_object()
        may_retrieve = getattr(view, "may_retrieve", None)
        if self.archived is not None and may_retrieve and not may_retrieve(request, self.archived):
            raise PermissionDenied()
        own = ask_view_for_rights(view, request)
        rights = get_rights_fingerprint(caller.authenticate(), own)
        return ReadableRows(rights, frozenset(self.find_rows(view) if self.keys else ()))

    def find_rows(self, view: Any) -> set[str]:
        """Return which of the keys are in the view's filtered queryset."""
        if not isinstance(view, GenericAPIView) or not self.model:
            return set()
        try:
            rows = view.filter_queryset(view.get_queryset())
        except REFUSALS:
            return set()
        expected = apps.get_model(self.model)._meta.concrete_model
        if not isinstance(rows, QuerySet) or rows.model._meta.concrete_model is not expected:
            return set()
        return find_keys(rows, self.keys)


PERMISSIONS_ALONE = RowsQuestion(names_object=False)


class StoredAnswer:
    """An answer of a tool that is stored for its caller.

    Before the caller reads the answer, a `Probe` runs the view's permissions and its filtered
    queryset, but no handler. A caller who may not read the answer gets what the view raises, an
    APIException, PermissionDenied or Http404; or RightsChanged.

    Args:
        kwargs: the path kwargs of the call; for a call about several objects one is a list.
        query_string: the query string of the call.
        call: the call, in the place of these two.
    """

    def __init__(
        self,
        caller: Caller,
        tool: Any,
        kwargs: Mapping[str, Any] | None = None,
        query_string: str = "",
        call: Call | None = None,
    ) -> None:
        self.caller = caller
        self.tool = tool
        self.call = call or Call({}, kwargs or {}, query_string)
        self.kwargs = self.call.kwargs
        self.many = next((n for n, value in self.kwargs.items() if isinstance(value, list)), "")

    @cached_property
    def identities(self) -> Identities:
        return Identities(self.caller)

    # --- When the answer is stored --------------------------------------------------------------

    def seal(self, lists: Sequence[ShownList] = ()) -> Sealed:
        """Return what is stored with the answer: the caller's rights, and the answer's rows."""
        if self.many:
            return self.seal_objects()
        if not self.has_to_be_asked(lists):
            rights = self.read_rights()
            return self.make_sealed(rights, lists[:1])
        try:
            return self.seal_rows(lists, names_object=True)
        except REFUSALS:
            # The call may have deleted its object, or moved it out of the caller's queryset.
            return self.seal_rows(lists, names_object=False)

    def seal_rows(self, lists: Sequence[ShownList], *, names_object: bool) -> Sealed:
        rights = ""
        for shown in lists:
            found = self.find_readable(RowsQuestion(shown.model, set(shown.keys), names_object))
            rights = found.rights
            # A handler of the project may answer with rows that are not in the queryset.
            if found.keys:
                own = tuple(key if key in found.keys else None for key in shown.keys)
                return self.make_sealed(rights, [replace(shown, keys=own)], names_object)
        rights = rights or self.find_readable(RowsQuestion(names_object=names_object)).rights
        return self.make_sealed(rights, (), names_object)

    def seal_objects(self) -> Sealed:
        rights = ""
        keys: list[int | None] = []
        for place in range(len(self.kwargs[self.many])):
            try:
                if self.has_to_be_asked(()):
                    found = self.find_readable(RowsQuestion(), self.get_call_of(place))
                    rights = rights or found.rights
                keys.append(place)
            except REFUSALS:
                keys.append(None)
        return self.make_sealed(rights or self.read_rights(), [ShownList("", "", keys)])

    def make_sealed(
        self, rights: str, lists: Sequence[ShownList], names_object: bool = True
    ) -> Sealed:
        model = lists[0].model if lists else ""
        return Sealed({"rights": rights, "object": names_object, "model": model}, lists)

    def has_to_be_asked(self, lists: Sequence[ShownList]) -> bool:
        # Rows of REST framework's own list are those of the filtered queryset.
        endpoint = self.tool.endpoint
        is_list = endpoint.standard_action == "list"
        is_known = endpoint.method == "GET" and (is_list or not lists)
        return not is_known or has_own_handler(endpoint) or self.has_hooks

    @property
    def has_hooks(self) -> bool:
        return any(hasattr(self.tool.endpoint.view_class, name) for name in HOOKS)

    # --- When the answer is read ----------------------------------------------------------------

    def note_rights(self) -> str:
        """Return a hash of the caller's rights to store with an answer; "" for unknown rights."""
        read = self.find_rights if self.has_hooks else self.read_rights
        return contain(read, lambda exc: "")

    def read_rights(self) -> str:
        # Within CALL_MIDDLEWARE, as when the answer is read: it may set the tenant.
        known = self.caller.authenticate()
        if not mcp_settings.CALL_MIDDLEWARE:
            return get_rights_fingerprint(known)
        return self.probe().ask_middleware(lambda: get_rights_fingerprint(known)) or ""

    def find_rights(self) -> str:
        """Return a hash of the caller's rights; the view's permissions are checked as well."""
        return self.find_readable().rights

    def note_terms(self, *, failed: bool = False) -> dict[str, Any]:
        """Return what is stored with an answer that is read whole or not at all, as JSON.

        Args:
            failed: whether the answer is that of a call which failed.
        """
        asked = contain(self.find_rights, lambda exc: "")
        return {
            "kwargs": dict(self.kwargs),
            "query_string": self.call.query_string,
            "rights": asked or self.note_rights(),
            "asked": bool(asked),
            "failed": failed,
        }

    @staticmethod
    def explain_withheld(terms: Mapping[str, Any]) -> str:
        """Return the message in the place of an answer that the caller may not read."""
        return _(FAILED) if terms.get("failed") else _(MADE)

    @classmethod
    def may_read(cls, caller: Caller, tool: Any, terms: Mapping[str, Any]) -> bool:
        """Return whether a caller may have an answer with the terms of `note_terms`.

        Raises:
            APIException: if the server cannot find out.
        """
        answer = cls(caller, tool, terms["kwargs"], terms["query_string"])
        try:
            rights = answer.find_rights() if terms["asked"] else answer.note_rights()
            answer.compare(rights, terms)
            answer.ask_features()
        except REFUSALS as exc:
            if getattr(exc, "status_code", 403) >= 500:
                raise
            return False
        return True

    def find_withheld(
        self, terms: Mapping[str, Any], rows: Sequence[Any], archived: Any = None
    ) -> frozenset[Any]:
        """Return the keys of those rows that the caller may not read.

        Args:
            rows: what `Sealed.find_row` returned for each item.
            archived: the entry of the archive, for ``may_retrieve(request, archived)`` of the view.
        """
        keys = find_every_key(rows)
        if self.many:
            withheld = self.find_withheld_objects(terms, keys, archived)
            self.ask_features()
            return withheld
        question = RowsQuestion(terms["model"], keys, terms["object"], archived)
        readable = self.find_readable(question)
        self.compare(readable.rights, terms)
        self.ask_features()
        return frozenset(keys - readable.keys)

    def find_withheld_objects(
        self, terms: Mapping[str, Any], places: set[Any], archived: Any
    ) -> frozenset[Any]:
        withheld, refusal = set(), None
        question = RowsQuestion(archived=archived)
        for place in places:
            try:
                found = self.find_readable(question, self.get_call_of(place))
                self.compare(found.rights, terms)
            except REFUSALS as exc:
                if getattr(exc, "status_code", 403) >= 500:
                    raise
                withheld.add(place)
                refusal = exc
        if not places:
            self.find_readable()
        elif refusal and withheld == places:
            raise refusal
        return frozenset(withheld)

    def ask_features(self) -> None:
        for feature in features.hooks["check_stored_answer"]:
            feature.check_stored_answer(self)

    def compare(self, rights: str, terms: Mapping[str, Any]) -> None:
        if rights != terms.get("rights"):
            raise RightsChanged()

    def get_call_of(self, place: int) -> Call:
        kwargs = {**self.kwargs, self.many: self.kwargs[self.many][place]}
        return replace(self.call, kwargs=kwargs, many="")

    # --- Asking the view ------------------------------------------------------------------------

    def find_readable(
        self, question: RowsQuestion = PERMISSIONS_ALONE, call: Call | None = None
    ) -> ReadableRows:
        """Return the rights of the caller, and which of the rows the caller may read.

        Rows that the query of the call leaves out are looked for without it: an order that the
        caller has closed since is still theirs.

        Args:
            call: the request about one of several objects; None for the whole call.
        """
        if call is None and (self.many or not (question.names_object or self.probe().is_routed)):
            # The path cannot be written: it has one of several objects, or none of the items.
            rights: list[str] = []

            def note(view: Any) -> None:
                own = ask_view_for_rights(view, view.request)
                rights.append(get_rights_fingerprint(self.caller.authenticate(), own))

            self.probe().check_permissions_alone(note)
            return ReadableRows(rights[0])
        call = call or self.call
        found = self.ask_view(question, call)
        missing = set(question.keys) - found.keys
        if not missing or not call.query_string:
            return found
        with catch() as caught:
            others = self.ask_view(replace(question, keys=missing), replace(call, query_string=""))
            return ReadableRows(found.rights, found.keys | others.keys)
        # A view may fail without the query. A database that fails does not say which rows remain.
        if isinstance(caught.exception, DatabaseError):
            raise caught.exception
        return found

    def ask_view(self, question: RowsQuestion, call: Call) -> ReadableRows:
        return self.probe(call).ask(
            lambda view, request, *args, **kwargs: question.ask(view, request, self.caller)
        )

    def probe(self, call: Call | None = None) -> Probe:
        return Probe(self.caller, self.tool, call or self.call, self.identities)
