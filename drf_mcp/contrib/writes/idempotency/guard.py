from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import APIException

from drf_mcp.codes import Category
from drf_mcp.contrib.writes.controls import is_dry_run
from drf_mcp.contrib.writes.idempotency.records import (
    ANONYMOUS,
    REPLAYED,
    Claim,
    IntendedChange,
    KeyHeader,
    KeyReused,
    fingerprint,
    is_key,
    read_outcome,
    write_outcome,
)
from drf_mcp.dispatch.guards import CallCrashed, CallRefused
from drf_mcp.dispatch.stored_answers import MADE
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.json_text import parse_json_text
from drf_mcp.outcomes import Failure, Outcome, Problem, Warning
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import CONTROL
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused

NO_KEY = gettext_noop("An idempotency key has 1 to 255 visible ASCII characters, and no spaces.")
NAME_IT = gettext_noop(
    "Send a short name of the change, such as refund-order-7, or leave the key out."
)
SIGN_IN = gettext_noop("Leave the key out, or tell the user that it needs a sign-in.")
DIFFERS = gettext_noop("Another value than in the first call with this key.")
REMEDIATION = gettext_noop(
    "Send the first arguments to have the first answer again, or another key for another change."
)
RIGHTS_CHANGED = "RIGHTS_CHANGED"


class IdempotencyGuard(Guard):
    """Makes a change that has a key once, and gives its answer again (docs/writes.md)."""

    control: ClassVar[str] = "idempotency_key"
    order = 500

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        key = self.get_key(call)
        # A trial changes nothing that could have an answer.
        if is_dry_run(call):
            return proceed(call)
        if key and getattr(call.tool.endpoint.view_class, "takes_idempotency_key", False):
            # The view does the same over HTTP.
            call.bound = replace(call.bound, headers={KeyHeader.meta: KeyHeader.write(key)})
            return proceed(call)
        change = self.get_change(call, key)
        return proceed(call) if change is None else self.make(change, call, proceed)

    def make(self, change: IntendedChange, call: CallState, proceed: Proceed) -> Outcome:
        def perform(claim: Claim) -> Outcome:
            outcome, stored = proceed(call), call.dispatcher.get_stored_answer(call)
            if outcome.status >= 500:
                claim.undo()
            elif outcome.failure is not None or outcome.questions:
                claim.free()
            else:
                # The first answer is read as all others are, so that they are the same.
                claim.keep(
                    text := write_outcome(outcome),
                    stored.note_rights(),
                )
                kept = read_outcome(text)
                return outcome.changed(
                    data=kept.data, meta=kept.meta, telemetry=kept.telemetry, content=kept.content
                )
            return outcome

        def replay(answer: str, rights: str) -> Outcome:
            # The handler is not run: a caller who may not call it any more is refused here.
            if call.dispatcher.get_stored_answer(call).find_rights() != rights:
                return self.get_made(call)
            outcome = read_outcome(answer)
            return outcome.changed(meta={**outcome.meta, REPLAYED: True})

        def fail(exc: Exception) -> Outcome:
            if isinstance(exc, KeyReused):
                return self.get_conflict(exc, call)
            if isinstance(exc, APIException):
                raise CallRefused(exc) from exc
            if isinstance(exc, (CallRefused, ArgumentsRefused)):
                raise exc
            raise CallCrashed(exc) from exc

        return contain(lambda: change.make(perform, replay), fail)

    def get_key(self, call: CallState) -> str:
        """Return the key of a call, "" for none.

        Raises:
            ArgumentsRefused: if it is no key, is missing, or the caller is unknown.
        """
        view_class, controls = call.tool.endpoint.view_class, call.bound.controls
        pointer = call.tool.arguments.get_control_pointer(self.control)
        if self.control not in controls:
            if not getattr(view_class, "idempotency_key_required", False):
                return ""
            problem = ArgumentErrors().missing_argument(self.control)
        elif not is_key(key := controls[self.control]):
            problem = Problem("invalid", _(NO_KEY), received=key, remediation=_(NAME_IT))
        elif not call.caller.principal:
            problem = Problem("invalid", _(ANONYMOUS), remediation=_(SIGN_IN))
        else:
            return str(key)
        raise ArgumentsRefused([replace(problem, pointer=pointer)])

    def get_change(self, call: CallState, key: str) -> IntendedChange | None:
        seconds = mcp_settings.IDEMPOTENCY_WINDOW if key else mcp_settings.REPEAT_WINDOW
        if not seconds or not call.caller.principal:
            return None
        values = dict(self.find_values(call))
        return IntendedChange(call.caller.principal, key, call.tool.name, values, seconds)

    def find_values(self, call: CallState) -> Iterator[tuple[str, str]]:
        arguments, sent = call.tool.arguments, dict(call.bound.arguments)
        if call.bound.items:
            name = arguments.items.name
            items = parse_json_text(sent.pop(name), list)
            yield f"/{name}", fingerprint([dict(self.read(arguments, item)) for item in items])
        for pointer, value in self.read(arguments, sent):
            yield pointer, fingerprint(value)

    def read(self, arguments: Any, sent: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        # What other guards read is no part of the change: a token, a version.
        for argument, value in arguments.get_values(sent):
            if argument.location != CONTROL:
                yield argument.pointer, argument.read(value)

    def get_made(self, call: CallState) -> Outcome:
        """Return the outcome of a change that was made under other rights."""
        warning = Warning(RIGHTS_CHANGED, _(MADE))
        return Outcome(call.tool.name, 200, warnings=(warning,), meta={REPLAYED: True})

    def get_conflict(self, exc: KeyReused, call: CallState) -> Outcome:
        differs, advice = _(DIFFERS), _(REMEDIATION)
        problems = (
            Problem("differs", differs, pointer, remediation=advice) for pointer in exc.differing
        )
        message = str(exc.detail)
        failure = Failure("CONFLICT", Category.CONFLICT, message, advice, tuple(problems))
        return Outcome(call.tool.name, exc.status_code, failure=failure)
