"""What rules would have done to the calls that the audit kept. See docs/rules.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model

from drf_mcp.archives import rolling_back
from drf_mcp.contrib.rules.conditions import UNREADABLE, RequestArguments
from drf_mcp.contrib.rules.ruling import ALLOW, RuleCall, RuledRequest, decide_requests
from drf_mcp.errors import MASK, ArgumentsRefused, CallCrashed
from drf_mcp.features import CallState
from drf_mcp.outcomes import MISSING

UNKNOWN = "unknown"
# In what the audit cut.
MORE = "…"


class NotInAudit(BaseException):
    """A rule reads what the audit does not keep; no `except Exception` of the rule hides it."""


class PastVerdict(NamedTuple):
    """What a rule would have done to a call: as a `Ruling` says, or `UNKNOWN` for a reason."""

    rule: Any = None
    verdict: str = ALLOW
    reason: str = ""


def _check_whole(name: str, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if MASK in text or MORE in text:
        raise NotInAudit(f"the audit {'masks' if MASK in text else 'cuts'} `{name}`")


class PastArguments(RequestArguments, Mapping[str, Any]):
    """The arguments that the audit kept; reading one that is not whole raises an exception."""

    def _find_sent(self, path: str) -> Any:
        value = super()._find_sent(path)
        # A member that is missing may have been cut.
        _check_whole(path, self.sent.get(path.partition(".")[0]) if value is MISSING else value)
        return value

    @cached_property
    def _read(self) -> Mapping[str, Any]:
        return self.read_all()

    def __getitem__(self, name: str) -> Any:
        value = self._read[name]
        _check_whole(name, self.sent[name])
        if value is UNREADABLE:
            raise NotInAudit(f"the view refuses `{name}`")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


class PastRequest(RuledRequest, RuleCall):
    """A request of a call, also as a rule in Python gets it: the user has the rights of today."""

    def __init__(self, call: CallState) -> None:
        super().__init__(call)
        self.tool, self.user = call.tool.name, call.caller.user

    @cached_property
    def arguments(self) -> Any:  # type: ignore[override]
        return PastArguments(self.call.tool, self.call.bound.arguments)

    @cached_property
    def auth(self) -> Any:
        raise NotInAudit("the rule reads the credential")

    @cached_property
    def object(self) -> Any:
        if self.call.bound.kwargs:
            raise NotInAudit("the rule reads the object, which may have changed since")
        return None

    def make_rule_call(self) -> RuleCall:
        return self


class AskedRules(list[Any]):
    """The rules about a tool; `last` is the one that was asked last."""

    last: Any = None

    def __iter__(self) -> Iterator[Any]:
        for self.last in super().__iter__():
            yield self.last


def judge_past_call(row: Any, tool: Any, rules: Sequence[Any], endpoint: Any) -> PastVerdict:
    """Return what rules would have done to a call of the audit.

    Nothing is called, and what rules write is undone.
    """
    asked = AskedRules(rule for rule in rules if tool.matches(rule.patterns))
    if not asked:
        return PastVerdict()
    try:
        with rolling_back():
            requests = [PastRequest(each) for each in _bind(row, tool, endpoint)]
            decision = decide_requests(asked, requests)
            return PastVerdict(decision.rule, decision.ruling.verdict)
    except NotInAudit as exc:
        return PastVerdict(asked.last or asked[0], UNKNOWN, str(exc))
    except CallCrashed as exc:
        return PastVerdict(asked.last, UNKNOWN, f"the rule fails: {exc.cause!r}")


def _bind(row: Any, tool: Any, endpoint: Any) -> Iterator[CallState]:
    """Yield the requests of a call; none where its arguments were refused before any rule."""
    arguments = row.as_data()["arguments"]
    if not isinstance(arguments, dict) or MORE in arguments:
        raise NotInAudit("the audit cuts the arguments")
    users: Any = get_user_model()._base_manager
    user = users.filter(pk=row.user_pk).first() if row.user_pk else None
    if user is None and row.user_pk:
        raise NotInAudit("the user is gone")
    call = CallState(tool, arguments, endpoint.make_caller(user))
    try:
        requests = call.bound.requests
    except ArgumentsRefused:
        _check_whole("arguments", arguments)
        return
    yield from map(call.of_item, requests)
