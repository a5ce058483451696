"""Which tools a caller sees: those that the views' own permissions would let run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from rest_framework.permissions import AllowAny, DjangoModelPermissions
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller
from drf_mcp.access.authentication_reuse import find_view_classes
from drf_mcp.access.visibility_cache import (
    CachedVisibility,
    Identity,
    find_identity,
    is_kept,
    visibility_cache,
)
from drf_mcp.dispatch.errors import Blockers
from drf_mcp.dispatch.probe import REFUSALS, Identities, Probe
from drf_mcp.dispatch.questions import AccessQuestion, Audience, get_question, permission_steps
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.introspection.text import get_plural_name, join_values
from drf_mcp.option_types.spelling import find_nearest

# Of the tools that a wrong name is like, so many are asked, and so many are named.
MOST_ASKED, MOST_NAMED = 8, 3


class Visibility:
    """Asks the views' permissions on behalf of one caller.

    Args:
        remembers: whether answers are kept for the caller's next list, and those of the last one
            heeded. What lets a caller in asks anew.
    """

    identities_class = Identities

    def __init__(self, caller: Caller, *, remembers: bool = False) -> None:
        self.caller = caller
        self.remembers = remembers and is_kept()
        self.identities = self.identities_class(caller)
        self.answers: dict[AccessQuestion, bool] = {}
        self.is_sure = True

    def of(self, tools: Iterable[Any], start: int = 0, most: int | None = None) -> Sequence[Any]:
        """Return the tools that the caller sees.

        Args:
            start: how many tools at the beginning are passed over, and not asked.
            most: so many are enough; None for all.
        """
        audience = Audience.of(tuple(tools))
        verdict = self.get_verdict(audience)
        if most is None and start == 0:
            seen = audience.pick(self.ask_all(audience, verdict))
        else:
            seen = list(islice(self.ask_some(audience, verdict, start), most))
        self.restore_user()
        return seen

    def find_first(self, tools: Iterable[Any], most: int) -> list[Any]:
        """Return the first so many tools that the caller sees, asked now; no others are asked."""
        seen = list(islice(filter(self.allows, tools), most))
        self.restore_user()
        return seen

    def find_nearest(self, name: str, tools: Mapping[str, Any]) -> list[str]:
        """Return the names of tools that are spelled like a wrong name, of those the caller sees.

        Args:
            tools: the tools by their names.
        """
        nearest = find_nearest(name, tools, MOST_ASKED)
        return [tool.name for tool in self.find_first(map(tools.__getitem__, nearest), MOST_NAMED)]

    def restore_user(self) -> None:
        # Views that authenticate in their own way have left their user on the request.
        self.caller.request.user = self.caller.authenticate().user

    def allows(self, tool: Any) -> bool:
        """Return whether the caller sees a tool, asked now."""
        return self.answer(get_question(tool), tool)

    def get_verdict(self, audience: Audience) -> CachedVisibility:
        identity = self.get_identity(audience) if self.remembers and audience.kept else None
        return CachedVisibility() if identity is None else visibility_cache.find(identity, audience)

    def get_identity(self, audience: Audience) -> Identity | None:
        # Whom each of the views takes the caller for.
        every = {self.caller.authentication_classes: None, **audience.authentications}
        parts = [self.get_identity_at(classes, tool) for classes, tool in every.items()]
        return None if None in parts else sum(filter(None, parts), ())

    def get_identity_at(self, classes: Any, tool: Any) -> Identity | None:
        # A credential that is refused is known by its text.
        return contain(
            lambda: find_identity(self.identify(classes, tool)), lambda exc: (type(exc),)
        )

    def ask_all(self, audience: Audience, verdict: CachedVisibility) -> int:
        known, seen = verdict.state
        if known != audience.kept:
            for question, bits, tool in audience.groups:
                if question.is_kept and bits & ~known and self.answer(question, tool):
                    seen |= bits
            if self.is_sure:
                verdict.state = audience.kept, seen
        for question, bits, tool in audience.anew:
            if self.answer(question, tool):
                seen |= bits
        return seen | audience.open

    def ask_some(self, audience: Audience, verdict: CachedVisibility, start: int) -> Iterator[Any]:
        known, seen = verdict.state
        for number in range(start, len(audience.tools)):
            question, tool, bit = audience.questions[number], audience.tools[number], 1 << number
            if not known & bit:
                seen |= bit if self.answer(question, tool) else 0
                known |= bit
                if self.is_sure:
                    verdict.state = known & audience.kept, seen & audience.kept
            if seen & bit:
                yield tool

    def answer(self, question: AccessQuestion, tool: Any) -> bool:
        # A permission that cannot be asked without an object or a body counts as given: the call
        # asks it for certain.
        if question not in self.answers:
            answer = contain(lambda: question.ask(self, tool), self.judge)
            self.answers[question] = answer
        return self.answers[question]

    def judge(self, exc: Exception) -> bool:
        # What a database could not answer now is asked again for the next list.
        self.is_sure = self.is_sure and not isinstance(exc, DatabaseError)
        return not turns_away(exc)

    def ask_view(self, tool: Any, model: Any = None) -> bool:
        """Return whether a view's own check of permissions passes.

        Args:
            model: that of the view's queryset, where it is known without making the queryset.
        """
        probe = self.get_probe(tool)
        prepare = None if model is None else partial(spare_queryset, model=model)

        def ask() -> bool:
            probe.check_permissions_alone(prepare)
            return True

        def judge(exc: Exception) -> bool:
            if probe.view.request is None and tool.endpoint.route.kwargs:
                # Middleware refused a path that no call has.
                return True
            # A call that lacks a scope alone is answered with the way to get it.
            return self.judge(exc) or self.is_short_of_scopes(probe.view)

        return contain(ask, judge)

    def ask_within_middleware(self, tool: Any, ask: Callable[[], bool]) -> bool:
        """Return an answer that is found within CALL_MIDDLEWARE; true where that refuses the path.

        One answer is for several tools, and the path is that of the first of them.
        """
        return self.get_probe(tool).ask_middleware(ask) is not False

    def get_probe(self, tool: Any) -> Probe:
        return Probe(self.caller, tool, identities=self.identities)

    def identify(self, classes: tuple[type, ...], tool: Any) -> Request:
        """Return an authenticated request for authentication classes.

        Args:
            tool: the tool at whose view they are asked.
        """
        known = self.identities.known.get(classes)
        if known is None:
            inner = ToolRequest(self.caller, tool.endpoint.method, tool.endpoint.route.path)
            known = Request(inner, authenticators=[made() for made in classes])
            self.identities.known[classes] = known
        return known

    def is_short_of_scopes(self, view: Any) -> bool:
        request = view.request
        if request is None:
            # Middleware refused it.
            return False
        return bool(self.caller.find_missing_scopes(view, request, view.get_permissions()))


class KnownQueryset:
    """Replaces a view's queryset where only its model is looked at.

    Anything else is read from the view's own.
    """

    def __init__(self, model: Any, view: Any) -> None:
        self.model = model
        self.view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self.view.get_queryset(), name)


def spare_queryset(view: Any, model: Any) -> None:
    # Making it may query, and REST framework's permission looks at nothing but its model.
    every = view.get_permissions()
    known = KnownQueryset(model, view)
    for permission in find_parts(every):
        own = getattr(type(permission), "_queryset", None)
        if own is DjangoModelPermissions._queryset:
            permission._queryset = lambda view: known
    view.get_permissions = lambda: every


def find_parts(every: Iterable[Any]) -> Iterator[Any]:
    for permission in every:
        parts = (getattr(permission, name, None) for name in ("op1", "op2"))
        yield from find_parts(filter(None, parts))
        yield permission


def turns_away(exc: Exception) -> bool:
    # Not so one that just misses a body or an object.
    return isinstance(exc, PermissionDenied) or getattr(exc, "status_code", None) in (401, 403)


def is_open(tool: Any) -> bool:
    # Nothing is asked at the call either, in REST framework's own way.
    if permission_steps(tool.endpoint.view_class) != permission_steps(APIView):
        return False
    permissions = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return permissions is not None and all(p is AllowAny for p in permissions)


logger = logging.getLogger("drf_mcp")
Found = TypeVar("Found")
# Of the rows of one model that a caller sees.
MOST_ROWS = 10_000


@dataclass(frozen=True)
class Rows:
    """Rows of one model.

    Attributes:
        model: the model's name, in the plural.
        count: how many of them the caller finds in the tool; 0 where it may not be said.
        tool: the tool that lists them, "" for none.
    """

    model: str
    count: int = 0
    tool: str = ""

    def __str__(self) -> str:
        if not self.count:
            return self.model
        # Translators: the model is the plural of its name, such as "line items".
        return _("%(model)s (%(count)d of them in %(tool)s)") % vars(self)

    @property
    def data(self) -> Mapping[str, Any]:
        counted = {"count": self.count, "tool": self.tool} if self.count else {}
        return {"model": self.model, **counted}


class ProtectedRows:
    """The list tools, as one caller sees their rows.

    Args:
        tool: the tool that is called, which knows the others.
        caller: the caller; None if unknown.
        kwargs: the path kwargs of the call, for the lists below the same objects.
    """

    def __init__(
        self, tool: Any, caller: Caller | None, kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self.tool = tool
        self.caller = caller
        self.kwargs = kwargs or {}

    def name_blockers(self, blockers: Blockers) -> str:
        return join_values(self.describe(blockers))

    def describe(self, keys: Mapping[type[Model], Collection[Any]]) -> tuple[Rows, ...]:
        """Return rows by model in words, each model with the tool that lists its rows.

        Args:
            keys: the primary keys of the rows, by model.
        """
        return tuple(self._describe_model(model, found) for model, found in keys.items())

    def find_visible(self, model: type[Model], keys: Collection[Any]) -> set[Any]:
        """Return the keys of the rows that a list shows the caller, as far as one can say."""
        if len(keys) > MOST_ROWS:
            return set()
        return self._ask_list(model, lambda probe: probe.find_visible_keys(model, keys)) or set()

    def shows_all(self, model: type[Model]) -> bool:
        """Return whether a list is known to show the caller every row of a model."""

        def compare(rows: QuerySet[Any]) -> bool:
            every: QuerySet[Any] = QuerySet(model, using=rows.db)
            return not every.exclude(pk__in=rows.order_by().values("pk")).exists()

        return bool(self._ask_list(model, lambda probe: probe.ask_listed_rows(compare)))

    def _describe_model(self, model: type[Model], keys: Collection[Any]) -> Rows:
        name, shown = get_plural_name(model), self.find_visible(model, keys)
        return Rows(name, len(shown), self._find_tool(model).name) if shown else Rows(name)

    def _find_tool(self, model: type[Model]) -> Any:
        related = self.tool.related
        name = None if related is None else related.find_list(model)
        if name is None or not related.endpoints[name].route.kwargs.keys() <= self.kwargs.keys():
            return None
        return replace(self.tool.for_endpoint(related.endpoints[name]), name=name)

    def _ask_list(self, model: type[Model], ask: Callable[[Probe], Found | None]) -> Found | None:
        tool, caller = self._find_tool(model), self.caller
        # What takes the list away from the caller takes its rows as well.
        if tool is None or caller is None or caller.find_narrowing(tool) is not None:
            return None
        kwargs = {name: self.kwargs[name] for name in tool.endpoint.route.kwargs}

        def leave_out(exc: Exception) -> None:
            if not isinstance(exc, REFUSALS):
                logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)

        return contain(lambda: ask(Probe(caller, tool, kwargs)), leave_out)
