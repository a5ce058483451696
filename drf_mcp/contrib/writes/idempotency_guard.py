from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from rest_framework.exceptions import APIException

from drf_mcp.archives import MADE, Probe, StoredAnswer
from drf_mcp.contrib.writes.dry_run import is_dry_run
from drf_mcp.contrib.writes.idempotency import (
    ANONYMOUS,
    REPLAYED,
    IntendedChange,
    KeyHeader,
    KeyReused,
    fingerprint,
    is_key,
    read_outcome,
    write_outcome,
)
from drf_mcp.errors import ArgumentsRefused, CallCrashed, CallRefused, missing_argument
from drf_mcp.exceptions import attempt, catch
from drf_mcp.exposure import CONTROL
from drf_mcp.features import Call, CallState, Guard, Proceed, mcp_settings
from drf_mcp.json_text import parse_json_text, refuse_deep
from drf_mcp.outcomes import Category, Failure, Outcome, Problem, Warning

IDEMPOTENCY_KEY = "idempotency_key"
NO_KEY = "An idempotency key has 1 to 255 visible ASCII characters, and no spaces."
NAME_IT = "Send a short name of the change, such as refund-order-7, or leave the key out."
SIGN_IN = "Leave the key out, or tell the user that it needs a sign-in."
DIFFERS = "Another value than in the first call with this key."
REMEDIATION = (
    "Send the first arguments to have the first answer again, or another key for another change."
)
RIGHTS_CHANGED = "RIGHTS_CHANGED"


def takes_header(tool: Any) -> bool:
    """Return whether the view of a tool takes the header ``Idempotency-Key``."""
    return bool(getattr(tool.endpoint.view_class, "takes_idempotency_key", False))


def requires_key(tool: Any) -> bool:
    return bool(getattr(tool.endpoint.view_class, "idempotency_key_required", False))


def _add_header(bound: Call, key: str) -> Call:
    """Return a call with the header of a key; each of its items has a key made of this one."""
    if bound.items:
        items = (
            _add_header(item, fingerprint([key, index])) for index, item in enumerate(bound.items)
        )
        return replace(bound, items=tuple(items))
    return replace(bound, headers={KeyHeader.meta: KeyHeader.write(key)})


def _is_made_by_view(call: CallState, bound: Call) -> bool:
    """Return whether a view that takes the header has made the change of a request."""

    def look(view: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        change = view.describe_intended_change(request, view.read_idempotency_key(request))
        return change.find_answer() is not None

    # A view that refuses the caller, or the key, has made no change that the caller may learn of.
    return attempt(lambda: Probe(call.caller, call.tool, bound).ask(look), False)


def _describe_made(call: CallState, message: str) -> Outcome:
    """Return the outcome of a call whose change was made before, without its answer."""
    warning = Warning(RIGHTS_CHANGED, message)
    return Outcome(call.tool.name, 200, warnings=(warning,), meta={REPLAYED: True})


class IdempotencyGuard(Guard):
    """Makes a change that has a key once, and gives its answer again (docs/writes.md)."""

    order: ClassVar[int] = 500

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        key = self._get_key(call)
        # A dry run changes nothing, so no answer is kept.
        if key and takes_header(call.tool) and not is_dry_run(call):
            # The view does the same over HTTP.
            call.bound = _add_header(call.bound, key)
            return proceed(call)
        change = self._find_change(call, key)
        if change is None:
            return proceed(call)
        with catch() as caught:
            return self.make(change, call, proceed)
        exc = caught.exception
        if isinstance(exc, KeyReused):
            return self._find_conflict(exc, call)
        if isinstance(exc, (CallRefused, ArgumentsRefused)):
            raise exc
        if isinstance(exc, APIException):
            raise CallRefused(exc) from exc
        raise CallCrashed(exc) from exc

    def _find_change(self, call: CallState, key: str) -> IntendedChange | None:
        """Return the change of a call that is made once, None for any other call."""
        seconds = mcp_settings.IDEMPOTENCY_WINDOW if key else mcp_settings.REPEAT_WINDOW
        if not seconds or is_dry_run(call):
            return None
        # Reading the principal authenticates the caller; without a key, views do that.
        owner = call.caller.principal
        if not owner:
            return None
        values = dict(self._find_values(call))
        holder = call.caller.holder
        return IntendedChange(owner, key, call.tool.name, values, seconds, holder)

    def make(self, change: IntendedChange, call: CallState, proceed: Proceed) -> Outcome:
        def perform(row: Any) -> Outcome:
            outcome, stored = proceed(call), StoredAnswer.of_call(call)
            if outcome.status >= 500:
                change.undo(row)
            elif outcome.failure is not None or outcome.questions:
                change.free(row)
            else:
                # The first answer is written and read as the later ones are, so that all are equal.
                text = write_outcome(outcome)
                # Without this limit, it would depend on the version of Python what can be kept.
                refuse_deep(text)
                change.keep(row, text, stored.note_rights())
                kept = read_outcome(text)
                return outcome.changed(
                    data=kept.data, meta=kept.meta, telemetry=kept.telemetry, content=kept.content
                )
            return outcome

        def replay(answer: str, rights: str, made: datetime) -> Outcome:
            # The handler is not run: a caller who may not call it any more is refused here.
            if not StoredAnswer.of_call(call).may_replay(rights, made):
                return _describe_made(call, MADE)
            outcome = read_outcome(answer)
            return outcome.changed(meta={**outcome.meta, REPLAYED: True})

        return change.make(perform, replay)

    def _get_key(self, call: CallState) -> str:
        """Return the key of a call, "" for none."""
        key = call.bound.controls.get(IDEMPOTENCY_KEY)
        if key is None and not requires_key(call.tool):
            return ""
        pointer = call.tool.arguments.find_control_pointer(IDEMPOTENCY_KEY)
        if key is None:
            problem = missing_argument(pointer)
        elif not is_key(key):
            problem = Problem("invalid", NO_KEY, pointer, received=key, remediation=NAME_IT)
        elif not call.caller.principal:
            problem = Problem("invalid", ANONYMOUS, pointer, remediation=SIGN_IN)
        else:
            return str(key)
        raise ArgumentsRefused([problem])

    def _find_values(self, call: CallState) -> Iterator[tuple[str, str]]:
        arguments, sent = call.tool.arguments, dict(call.bound.arguments)

        def read(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
            # Arguments of other guards, such as a confirmation, are no part of the change.
            for argument, value in arguments.find_values(values):
                if argument.location != CONTROL:
                    yield argument.pointer, argument.read(value)

        if call.bound.items:
            name = arguments.items.name
            items = parse_json_text(sent.pop(name), list)
            yield f"/{name}", fingerprint([dict(read(item)) for item in items])
        for pointer, value in read(sent):
            yield pointer, fingerprint(value)

    def _find_conflict(self, exc: KeyReused, call: CallState) -> Outcome:
        advice = REMEDIATION
        problems = tuple(
            Problem("differs", DIFFERS, pointer, remediation=advice) for pointer in exc.differing
        )
        failure = Failure("CONFLICT", Category.CONFLICT, str(exc.detail), advice, problems)
        return Outcome(call.tool.name, exc.status_code, failure=failure)


def find_made(call: CallState, message: str) -> Outcome | None:
    """Return the outcome of a call whose change was made before, None for any other call.

    A guard further out asks for it before it refuses the call.
    """
    guard = next((each for each in call.guards if isinstance(each, IdempotencyGuard)), None)
    if guard is None:
        return None
    key = guard._get_key(call)
    if key and takes_header(call.tool) and not is_dry_run(call):
        bound = _add_header(call.bound, key)
        is_made = all(_is_made_by_view(call, each) for each in bound.items or (bound,))
        return _describe_made(call, message) if is_made else None
    change = guard._find_change(call, key)
    with contextlib.suppress(KeyReused):
        if change is not None and change.find_answer() is not None:
            return _describe_made(call, message)
    return None
