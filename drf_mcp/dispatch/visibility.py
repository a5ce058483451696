"""Which tools a caller sees: those that the views' own permissions would let run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
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
from drf_mcp.dispatch.approach import Identities
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.questions import AccessQuestion, Audience, get_question, permission_steps
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
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
