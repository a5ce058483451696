"""The gate of stored answers: whether a caller may be given now what a call answered before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Any

from django.utils import timezone
from rest_framework.exceptions import PermissionDenied

from drf_mcp.access.authentication import Caller
from drf_mcp.access.scopes import ask_view_for_rights, get_rights_fingerprint
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.probe import REFUSALS, Identities, Probe, can_be_asked
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.exceptions import attempt, catch
from drf_mcp.features import CallState
from drf_mcp.json_text import hash_json
from drf_mcp.option_types.installed import features

logger = logging.getLogger("drf_mcp")

# From then on, a replay or a proposal gives an answer only where the object of the URL is found.
FRESH = timedelta(minutes=15)
MADE = (
    "The change was made before, and is not made again. Its answer is not given: your rights are "
    "others than they were then, or it could not be kept. Read what was changed."
)
FAILED = "The call failed. Its answer is not given: your rights are others than they were then."


class RightsChanged(PermissionDenied):
    """The caller's rights are others than when the answer was made."""


class StoredAnswer:
    """An answer of a tool that is kept for its caller.

    `note_terms` says what has to hold of a caller to be given the answer, and `check` and
    `may_read` ask for it, at every message anew: today's authentication and permissions of the
    endpoint, narrowing, CALL_MIDDLEWARE, the view's permissions, the object that the URL names,
    and a fingerprint of the caller's rights. No handler is run.

    Args:
        call: the call, as far as it is known: its kwargs, its query and, if possible, its body.
    """

    def __init__(self, caller: Caller, tool: Any, call: Call) -> None:
        self.caller = caller
        self.tool = tool
        self.call = call
        self.kwargs = call.kwargs

    @classmethod
    def of_call(cls, call: CallState) -> StoredAnswer:
        """Return the answer of a call."""
        # A guard may have answered before the arguments were bound.
        return cls(call.caller, call.tool, vars(call).get("bound") or Call({}))

    @classmethod
    def of(cls, caller: Caller, tool: Any, sent: Mapping[str, Any]) -> StoredAnswer:
        """Return the answer of a call whose ``kwargs`` and ``query_string`` are known."""
        kwargs = sent.get("kwargs") or {}
        many = next((name for name, value in kwargs.items() if isinstance(value, list)), "")
        return cls(caller, tool, Call({}, kwargs, sent.get("query_string", ""), many=many))

    @cached_property
    def _identities(self) -> Identities:
        return Identities(self.caller)

    # --- When the answer is kept ----------------------------------------------------------------

    def note_terms(self, *, failed: bool = False) -> dict[str, Any]:
        """Return what has to hold for the answer to be given, as JSON; it may never hold."""
        sent = {"kwargs": dict(self.kwargs), "query_string": self.call.query_string}
        terms = {**sent, "failed": failed, "objects": [], "asked": True}
        with catch() as caught:
            return {**terms, **self._find_terms(sent, failed)}
        exc = caught.exception
        logger.warning("%s could not be asked again", self.tool.name, exc_info=exc)
        return {**terms, "rights": ""}

    def _find_terms(self, sent: Mapping[str, Any], failed: bool) -> dict[str, Any]:
        # Without the body of the call, which is not kept.
        bare = StoredAnswer.of(self.caller, self.tool, sent)
        if not can_be_asked(self.tool.endpoint):
            return {"rights": ""}
        requests = bare.call.requests
        found = [_allow(partial(bare._ask, each, names_object=True)) for each in requests]
        if objects := [place for place, rights in enumerate(found) if rights]:
            return {"rights": found[objects[0]], "objects": objects}
        # The call may have deleted its objects, or moved them out of the caller's queryset.
        if rights := _allow(bare.find_rights):
            return {"rights": rights}
        # A permission may read the body, or refuse the call that failed.
        is_allowed = failed or self.note_rights()
        return {"rights": is_allowed and bare._find_rights_alone(), "asked": False}

    def note_rights(self) -> str:
        """Return a hash of the caller's rights, "" where the answer cannot be given again."""
        return attempt(self.find_rights, "")

    # --- When the answer is given ---------------------------------------------------------------

    @classmethod
    def may_read(
        cls, caller: Caller, tool: Any, terms: Mapping[str, Any], made: datetime | None = None
    ) -> bool:
        """Return whether a caller may be given an answer now.

        Args:
            terms: what `note_terms` returned.
            made: when the change of a proposal was made.

        Raises:
            APIException: if the server cannot find out.
        """
        answer = cls.of(caller, tool, terms)

        def check() -> str:
            answer.check(terms, made)
            return "given"

        return bool(_allow(check))

    def check(self, terms: Mapping[str, Any], made: datetime | None = None) -> None:
        """Raise an exception unless the caller may be given the answer; see `may_read`.

        Raises:
            APIException, PermissionDenied, Http404: what the view refuses the caller with.
            RightsChanged: if the caller has other rights.
        """
        if not terms["rights"] or self.caller.find_narrowing(self.tool) is not None:
            raise RightsChanged()
        requests = self.call.requests
        objects = range(len(requests)) if is_old(made) else terms["objects"]
        found = {self._ask(requests[place], names_object=True) for place in objects}
        if not found:
            found = {self.find_rights() if terms["asked"] else self._find_rights_alone()}
        if found != {terms["rights"]}:
            raise RightsChanged()
        # A change that was made is not taken back.
        refusing = features.hooks["refuses"] if self.tool.reads else ()
        if any(refuses(self.tool, self.caller) for refuses in refusing):
            raise PermissionDenied()

    def find_rights(self) -> str:
        """Return a hash of the caller's rights; the view's permissions are asked as well.

        Returns:
            "" where no question is possible: a decorator of the view may refuse the caller.

        Raises:
            APIException, PermissionDenied, Http404: what the view refuses the caller with.
        """
        if not can_be_asked(self.tool.endpoint):
            return ""
        found = [self._ask(each, names_object=False) for each in self.call.requests]
        return found[0] if found else ""

    def may_replay(self, rights: str, made: datetime) -> bool:
        """Return whether the answer of a change, made under the `note_rights`, is given again.

        Raises:
            APIException, PermissionDenied, Http404: what the view refuses the caller with.
        """
        if not rights or self.find_rights() != rights:
            return False
        requests = self.call.requests if is_old(made) else ()
        return all(_allow(partial(self._ask, each, names_object=True)) for each in requests)

    @staticmethod
    def explain_withheld(terms: Mapping[str, Any]) -> str:
        """Return the message in place of an answer that the caller may not be given."""
        return FAILED if terms.get("failed") else MADE

    # --- Asking the view ------------------------------------------------------------------------

    def _ask(self, call: Call, *, names_object: bool) -> str:
        probe = Probe(self.caller, self.tool, call, self._identities)

        def look(view: Any, request: Any, *args: Any, **kwargs: Any) -> str:
            if names_object:
                get_named_object(view)
            return self._hash_rights(view, request)

        return probe.ask(look)

    def _hash_rights(self, view: Any, request: Any) -> str:
        rights = get_rights_fingerprint(request, ask_view_for_rights(view, request))
        known = self.caller.authenticate()
        if (known.user, known.auth) == (request.user, request.auth):
            return rights
        # The view has authentication classes of its own.
        return hash_json([rights, get_rights_fingerprint(known)])

    def _find_rights_alone(self) -> str:
        # No permission is asked.
        rights: list[str] = []

        def note(view: Any) -> None:
            rights.append(self._hash_rights(view, view.request))

        probe = Probe(self.caller, self.tool, self.call.requests[0], self._identities)
        attempt(lambda: probe.check_permissions_alone(note), None)
        return rights[0] if rights else ""


def _allow(ask: Callable[[], str]) -> str:
    """Return what a question returns, "" where the view refuses the caller."""
    try:
        return ask()
    except REFUSALS as exc:
        if getattr(exc, "status_code", 403) >= 500:
            raise
        return ""


def is_old(made: datetime | None) -> bool:
    """Return whether an answer is so old that its rows are asked for again."""
    return made is not None and timezone.now() - made > FRESH


def finds_object(view: Any) -> bool:
    """Return whether the object that a view's URL names is found."""

    def find() -> str:
        get_named_object(view)
        return "found"

    return bool(_allow(find))


def keeps_answers(tool: Any) -> bool:
    """Return whether the parts that a tool's results leave out are to be kept."""
    return False not in (tool.options.archive, getattr(tool.endpoint.view_class, "archive", None))
