"""The records of changes, in the database: any worker on any machine finds them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import IntegrityError, router, transaction
from django.db.models import Count, Min, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import APIException, Throttled
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.access.limits import APPROACHING
from drf_mcp.exceptions import Conflict
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import MISSING, Fidelity, Outcome, Pagination, Problem, Severity, Warning

# Of an outcome of a success. The quota that was left then is none of it.
KEPT = (
    *("tool", "status", "data", "content", "suggestions", "telemetry", "fidelity"),
    *("meta", "version", "content_hash", "request_id", "pagination"),
)
REPLAYED = "replayed"


class KeptEncoder(JSONEncoder):
    # In ASCII: every database has those characters.

    def __init__(self) -> None:
        super().__init__(allow_nan=False, separators=(",", ":"))

    def default(self, obj: Any) -> Any:
        if is_dataclass(obj) and type(obj).__module__ == Outcome.__module__:
            members = ((field.name, getattr(obj, field.name)) for field in fields(obj))
            return {name: value for name, value in members if value is not MISSING}
        return super().default(obj)


def write_warnings(warnings: Iterable[Warning]) -> list[Warning]:
    return [warning for warning in warnings if warning.code != APPROACHING]


def read_warning(members: Mapping[str, Any]) -> Warning:
    problems = tuple(Problem(**read_severity(problem)) for problem in members["problems"])
    return Warning(**{**read_severity(members), "problems": problems})


def read_severity(members: Mapping[str, Any]) -> dict[str, Any]:
    severity = members["severity"]
    return {**members, "severity": None if severity is None else Severity(severity)}


def write_outcome(outcome: Outcome) -> str:
    """Return the text of an outcome without a failure; what is lazy in it is read."""
    members = {name: getattr(outcome, name) for name in KEPT}
    return KeptEncoder().encode({**members, "warnings": write_warnings(outcome.warnings)})


def read_outcome(text: str) -> Outcome:
    """Return the outcome of a text that `write_outcome` wrote."""
    members = json.loads(text)
    pagination, fidelity = members["pagination"], members["fidelity"]
    return Outcome(
        **{
            **members,
            "content": tuple(members["content"]),
            "suggestions": tuple(members["suggestions"]),
            "warnings": tuple(map(read_warning, members["warnings"])),
            "pagination": None if pagination is None else Pagination(**pagination),
            "fidelity": None
            if fidelity is None
            else Fidelity(**{**fidelity, "dropped": tuple(fidelity["dropped"])}),
        }
    )


# 1 to 255 visible characters of ASCII.
KEY = re.compile(r"[!-~]{1,255}")
ANONYMOUS = gettext_noop("A key needs a caller who is signed in: anonymous callers look alike.")
OWNER_LENGTH, OPERATION_LENGTH = 255, 255
# How many answers an owner may have kept at once, and their characters together.
MAX_RECORDS, MAX_SIZE = 1_000, 20_000_000
# How often a key is tried for that others take and free again.
MOST_ATTEMPTS = 20

Result = TypeVar("Result")


class KeyReused(APIException):
    """A key came with another request than its first (HTTP 422, as the IETF draft has it).

    Args:
        differing: pointers to where the arguments differ; () where the operations do.
        operation: the first request's.
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
            # Translators: the operation is the name of a tool, or a method and a path.
            text = _("The idempotency key was used before, for %(operation)s.")
        super().__init__(text % facts)


class Taken(Exception):
    """Another request has made the change, or was refused just now."""


def fingerprint(value: Any) -> str:
    """Return a hash of a JSON value that does not reveal the value, be it a short secret."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return salted_hmac("drf_mcp.idempotency", text, algorithm="sha256").hexdigest()[:32]


def is_key(value: Any) -> bool:
    return isinstance(value, str) and KEY.fullmatch(value) is not None


class KeyHeader:
    """``Idempotency-Key``: a string of RFC 8941, or the bare key, as many clients send it."""

    name = "Idempotency-Key"
    meta = "HTTP_IDEMPOTENCY_KEY"

    @staticmethod
    def write(key: str) -> str:
        escaped = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    @staticmethod
    def read(text: str) -> str:
        quoted = re.fullmatch(r'"((?:[^"\\]|\\["\\])*)"', text.strip())
        return re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else text.strip()


def get_table() -> Any:
    # Views are imported by what is loaded before the models.
    from drf_mcp.contrib.writes.models import IdempotencyRecord

    # Read where it is written: a replica may lag behind.
    return IdempotencyRecord._default_manager.using(router.db_for_write(IdempotencyRecord))


class Claim:
    """The row of a change that is being made; it becomes visible with the change.

    Args:
        row: the row.
        seconds: how long the answer is given again.
    """

    def __init__(self, row: Any, seconds: int) -> None:
        self.row = row
        self.seconds = seconds

    def keep(self, answer: str, rights: str) -> None:
        """Keep the answer of a change that was made, and the caller's rights, as a hash."""
        expires = timezone.now() + timedelta(seconds=self.seconds)
        self.rows.update(answer=answer, size=len(answer), rights=rights, expires=expires)

    def free(self) -> None:
        """Give the key back after a refusal, and keep what the view wrote all the same."""
        # Nothing is kept of a transaction that the view has given up.
        if not transaction.get_connection(self.row._state.db).needs_rollback:
            self.rows.delete()

    def undo(self) -> None:
        """Give the key back after a crash, and take back what the view wrote."""
        transaction.set_rollback(True, using=self.row._state.db)

    @property
    def rows(self) -> Any:
        return type(self.row)._default_manager.using(self.row._state.db).filter(pk=self.row.pk)


@dataclass(frozen=True)
class IntendedChange:
    """A change that a caller intends, by the key that names it.

    Attributes:
        owner: who is calling, not "".
        key: the caller's key; "" makes one of the operation and the arguments.
        operation: the name of the tool, or the method and the path.
        arguments: the fingerprints of the arguments, by their names.
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

    def make(
        self,
        perform: Callable[[Claim], Result],
        replay: Callable[[str, str], Result],
    ) -> Result:
        """Make the change in one transaction with its record, or answer from the record.

        A request with the same key waits for this one, by the database.

        Args:
            perform: makes the change, and has the claim keep its answer, or gives it back.
            replay: reads the answer that was kept, and gets the rights that it was made under.

        Raises:
            KeyReused: if the key was used for another change.
            Conflict: if others keep taking the key and giving it back.
            Throttled: if so many answers are kept for the owner that no change is remembered.
        """
        for _attempt in range(MOST_ATTEMPTS):
            try:
                with transaction.atomic(using=get_table().db):
                    return perform(self.claim())
            except Taken:
                kept = self.find_answer()
            if kept is not None:
                return replay(*kept)
        raise Conflict(_("Requests with this idempotency key are still being answered."))

    def check_quota(self, now: datetime) -> None:
        kept = get_table().filter(owner=self.owner[:OWNER_LENGTH], expires__gt=now)
        usage = kept.aggregate(count=Count("pk"), size=Sum("size"), first=Min("expires"))
        if usage["count"] < MAX_RECORDS and (usage["size"] or 0) < MAX_SIZE:
            return
        if kept.filter(pk=self.digest).exists():
            return
        text = _("Too many changes of yours are remembered by their idempotency keys.")
        raise Throttled((usage["first"] - now).total_seconds(), text)

    def claim(self) -> Claim:
        now = timezone.now()
        self.check_quota(now)
        try:
            row = get_table().create(
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
        return Claim(row, self.seconds)

    def find_answer(self) -> tuple[str, str] | None:
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

    @staticmethod
    def expire() -> int:
        """Delete the records that have expired, and return how many there were."""
        deleted: int = get_table().filter(expires__lte=timezone.now()).delete()[0]
        return deleted
