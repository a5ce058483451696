"""A change that has a key is made once: sent again, the first answer comes again.

The records are in the database, so that any worker on any machine finds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from django.db import IntegrityError, router, transaction
from django.db.models import Count, Min, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import APIException, Throttled
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.access.limits import APPROACHING
from drf_mcp.contrib.writes.changes import is_dry_run
from drf_mcp.dispatch.guards import CallCrashed, CallRefused
from drf_mcp.dispatch.stored_answers import MADE
from drf_mcp.exceptions import Conflict, catch
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.outcomes import (
    MISSING,
    Category,
    Failure,
    Fidelity,
    Outcome,
    Pagination,
    Problem,
    Severity,
    Warning,
)
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import CONTROL
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused

CONTROL_NAME = "idempotency_key"
# 1 to 255 visible characters of ASCII.
KEY = re.compile(r"[!-~]{1,255}")
NO_KEY = gettext_noop("An idempotency key has 1 to 255 visible ASCII characters, and no spaces.")
NAME_IT = gettext_noop(
    "Send a short name of the change, such as refund-order-7, or leave the key out."
)
ANONYMOUS = gettext_noop("A key needs a caller who is signed in: anonymous callers look alike.")
SIGN_IN = gettext_noop("Leave the key out, or tell the user that it needs a sign-in.")
DIFFERS = gettext_noop("Another value than in the first call with this key.")
REMEDIATION = gettext_noop(
    "Send the first arguments to have the first answer again, or another key for another change."
)
OWNER_LENGTH = 255
# How many answers an owner may have kept at once, and their characters together.
MAX_RECORDS, MAX_SIZE = 1_000, 20_000_000
# How often a key is tried for that others take and free again.
MOST_ATTEMPTS = 20
# Of an outcome of a success. The quota that was left then is none of it.
KEPT = (
    *("tool", "status", "data", "content", "suggestions", "telemetry", "fidelity"),
    *("meta", "version", "content_hash", "request_id", "pagination"),
)
REPLAYED, RIGHTS_CHANGED = "replayed", "RIGHTS_CHANGED"


# --- Outcomes as text ----------------------------------------------------------------------------


class KeptEncoder(JSONEncoder):
    # In ASCII: every database has those characters.

    def __init__(self) -> None:
        super().__init__(allow_nan=False, separators=(",", ":"))

    def default(self, obj: Any) -> Any:
        if is_dataclass(obj) and type(obj).__module__ == Outcome.__module__:
            members = ((field.name, getattr(obj, field.name)) for field in fields(obj))
            return {name: value for name, value in members if value is not MISSING}
        return super().default(obj)


def write_outcome(outcome: Outcome) -> str:
    """Return the text of an outcome without a failure; what is lazy in it is read."""
    members = {name: getattr(outcome, name) for name in KEPT}
    warnings = [warning for warning in outcome.warnings if warning.code != APPROACHING]
    return KeptEncoder().encode({**members, "warnings": warnings})


def read_outcome(text: str) -> Outcome:
    """Return the outcome of a text that `write_outcome` wrote."""
    members = json.loads(text)

    def read_severity(known: dict[str, Any]) -> dict[str, Any]:
        severity = known["severity"]
        return {**known, "severity": None if severity is None else Severity(severity)}

    warnings = []
    for each in members["warnings"]:
        problems = tuple(Problem(**read_severity(problem)) for problem in each["problems"])
        warnings.append(Warning(**{**read_severity(each), "problems": problems}))
    members["warnings"] = tuple(warnings)
    for name in ("content", "suggestions"):
        members[name] = tuple(members[name])
    if members["pagination"] is not None:
        members["pagination"] = Pagination(**members["pagination"])
    if (fidelity := members["fidelity"]) is not None:
        members["fidelity"] = Fidelity(**{**fidelity, "dropped": tuple(fidelity["dropped"])})
    return Outcome(**members)


# --- Records -------------------------------------------------------------------------------------


class KeyReused(APIException):
    """A key came with another call than its first (HTTP 422, as the IETF draft has it).

    Args:
        differing: pointers to where the arguments differ; () where the tools do.
        operation: the first tool.
    """

    status_code = 422
    default_code = "idempotency_key_reused"

    def __init__(self, differing: tuple[str, ...], operation: str) -> None:
        self.differing = differing
        names = [JSONPointer(pointer).dotted or _("the body") for pointer in differing]
        facts = {"names": ", ".join(names), "operation": operation}
        if names:
            text = _("The idempotency key was used before, with another value of: %(names)s.")
        else:
            # Translators: the operation is the name of a tool.
            text = _("The idempotency key was used before, for %(operation)s.")
        super().__init__(text % facts)


class Taken(Exception):
    """Another call has made the change, or was refused just now."""


def fingerprint(value: Any) -> str:
    """Return a hash of a JSON value that does not reveal the value, be it a short secret."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return salted_hmac("drf_mcp.idempotency", text, algorithm="sha256").hexdigest()[:32]


def get_table() -> Any:
    # Settings are read before the models are loaded.
    from drf_mcp.contrib.writes.models import IdempotencyRecord

    # Read where it is written: a replica may lag behind.
    return IdempotencyRecord._default_manager.using(router.db_for_write(IdempotencyRecord))


def expire_changes() -> int:
    """Delete the records that have expired, and return how many there were."""
    deleted: int = get_table().filter(expires__lte=timezone.now()).delete()[0]
    return deleted


@dataclass(frozen=True)
class IntendedChange:
    """A change that a caller intends, by the key that names it.

    Attributes:
        owner: who is calling, not "".
        key: the caller's key; "" makes one of the operation and the arguments.
        operation: the name of the tool.
        arguments: the fingerprints of the arguments, by their pointers.
        seconds: how long the answer is given again.
    """

    owner: str
    key: str
    operation: str
    arguments: Mapping[str, str]
    seconds: int

    @property
    def digest(self) -> str:
        return fingerprint(
            [self.owner, self.key or [self.operation, dict(sorted(self.arguments.items()))]]
        )

    def claim(self) -> Any:
        """Return the row of the change, which becomes visible with the change.

        Raises:
            Taken: if there is one, in a transaction of another call or by now.
            Throttled: if so many answers are kept for the owner that no change is remembered.
        """
        now = timezone.now()
        kept = get_table().filter(owner=self.owner[:OWNER_LENGTH], expires__gt=now)
        usage = kept.aggregate(count=Count("pk"), size=Sum("size"), first=Min("expires"))
        has_room = usage["count"] < MAX_RECORDS and (usage["size"] or 0) < MAX_SIZE
        if not has_room and not kept.filter(pk=self.digest).exists():
            text = _("Too many changes of yours are remembered by their idempotency keys.")
            raise Throttled((usage["first"] - now).total_seconds(), text)
        try:
            return get_table().create(
                digest=self.digest,
                owner=self.owner[:OWNER_LENGTH],
                key=self.key,
                operation=self.operation,
                arguments=self.arguments,
                created=now,
                expires=now + timedelta(seconds=self.seconds),
            )
        except IntegrityError as exc:
            raise Taken from exc

    def find_answer(self) -> tuple[str, str] | None:
        """Return the answer that is kept, and the rights that it was made under; None without one.

        Raises:
            KeyReused: if the key was used for another change.
        """
        # Locked, so that databases whose transactions see the past show the row as it is now.
        with transaction.atomic(using=get_table().db):
            row = get_table().select_for_update().filter(pk=self.digest).first()
            if row is None:
                return None
            if row.expires <= timezone.now():
                row.delete()
                return None
        if row.operation != self.operation:
            raise KeyReused((), row.operation)
        both = row.arguments.items() ^ self.arguments.items()
        if both:
            raise KeyReused(tuple(sorted({name for name, _value in both})), row.operation)
        return row.answer, row.rights


# --- The guard -----------------------------------------------------------------------------------


class IdempotencyGuard(Guard):
    """Makes a change that has a key once, and gives its answer again (docs/writes.md)."""

    order: ClassVar[int] = 500

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        key, owner = self.get_key(call), call.caller.principal
        seconds = mcp_settings.IDEMPOTENCY_WINDOW if key else mcp_settings.REPEAT_WINDOW
        # A trial changes nothing that could have an answer.
        if is_dry_run(call) or not seconds or not owner:
            return proceed(call)
        values = dict(self.find_values(call))
        change = IntendedChange(owner, key, call.tool.name, values, seconds)
        with catch() as caught:
            return self.make(change, call, proceed)
        exc = caught.exception
        if isinstance(exc, KeyReused):
            return self.get_conflict(exc, call)
        if isinstance(exc, (CallRefused, ArgumentsRefused)):
            raise exc
        if isinstance(exc, APIException):
            raise CallRefused(exc) from exc
        raise CallCrashed(exc) from exc

    def make(self, change: IntendedChange, call: CallState, proceed: Proceed) -> Outcome:
        """Make the change in one transaction with its record, or answer from the record.

        A call with the same key waits for this one, by the database.
        """
        for _attempt in range(MOST_ATTEMPTS):
            try:
                with transaction.atomic(using=get_table().db):
                    return self.perform(change.claim(), change, call, proceed)
            except Taken:
                kept = change.find_answer()
            if kept is None:
                continue
            # The handler is not run: a caller who may not call it any more is refused here.
            answer, rights = kept
            if call.dispatcher.get_stored_answer(call).find_rights() != rights:
                warning = Warning(RIGHTS_CHANGED, _(MADE))
                return Outcome(call.tool.name, 200, warnings=(warning,), meta={REPLAYED: True})
            outcome = read_outcome(answer)
            return outcome.changed(meta={**outcome.meta, REPLAYED: True})
        # Others keep taking the key and giving it back.
        raise Conflict(_("Requests with this idempotency key are still being answered."))

    def perform(
        self, row: Any, change: IntendedChange, call: CallState, proceed: Proceed
    ) -> Outcome:
        outcome, stored = proceed(call), call.dispatcher.get_stored_answer(call)
        using = row._state.db
        rows = get_table().using(using).filter(pk=row.pk)
        if outcome.status >= 500:
            # What the view wrote before it crashed is taken back, and the key with it.
            transaction.set_rollback(True, using=using)
        elif outcome.failure is not None or outcome.questions:
            # What the view wrote before it refused is kept, unless the view gave it up.
            if not transaction.get_connection(using).needs_rollback:
                rows.delete()
        else:
            # The first answer is read as all others are, so that they are the same.
            answer, rights = write_outcome(outcome), stored.note_rights()
            expires = timezone.now() + timedelta(seconds=change.seconds)
            rows.update(answer=answer, size=len(answer), rights=rights, expires=expires)
            kept = read_outcome(answer)
            return outcome.changed(
                data=kept.data, meta=kept.meta, telemetry=kept.telemetry, content=kept.content
            )
        return outcome

    def get_key(self, call: CallState) -> str:
        """Return the key of a call, "" for none.

        Raises:
            ArgumentsRefused: if it is no key, is missing, or the caller is unknown.
        """
        key = call.bound.controls.get(CONTROL_NAME)
        if key is None and call.tool.options.idempotency_key != "required":
            return ""
        pointer = call.tool.arguments.get_control_pointer(CONTROL_NAME)
        if key is None:
            problem = replace(ArgumentErrors().missing_argument(CONTROL_NAME), pointer=pointer)
        elif not isinstance(key, str) or not KEY.fullmatch(key):
            problem = Problem("invalid", _(NO_KEY), pointer, received=key, remediation=_(NAME_IT))
        elif not call.caller.principal:
            problem = Problem("invalid", _(ANONYMOUS), pointer, remediation=_(SIGN_IN))
        else:
            return key
        raise ArgumentsRefused([problem])

    def find_values(self, call: CallState) -> Iterator[tuple[str, str]]:
        arguments, sent = call.tool.arguments, dict(call.bound.arguments)

        def read(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
            # What other guards read is no part of the change: a token, a version.
            for argument, value in arguments.get_values(values):
                if argument.location != CONTROL:
                    yield argument.pointer, argument.read(value)

        if call.bound.items:
            name = arguments.items.name
            items = parse_json_text(sent.pop(name), list)
            yield f"/{name}", fingerprint([dict(read(item)) for item in items])
        for pointer, value in read(sent):
            yield pointer, fingerprint(value)

    def get_conflict(self, exc: KeyReused, call: CallState) -> Outcome:
        advice = _(REMEDIATION)
        problems = tuple(
            Problem("differs", _(DIFFERS), pointer, remediation=advice) for pointer in exc.differing
        )
        failure = Failure("CONFLICT", Category.CONFLICT, str(exc.detail), advice, problems)
        return Outcome(call.tool.name, exc.status_code, failure=failure)
