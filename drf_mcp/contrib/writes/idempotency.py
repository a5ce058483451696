"""A change that has a key is made once: sent again, the first answer comes again.

The records are in the database, so that any worker on any machine finds them.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Count, Min, Sum
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework.exceptions import APIException, ParseError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.archives import (
    MADE,
    ask_view_for_rights,
    find_holder,
    finds_object,
    get_rights_fingerprint,
    is_old,
    make_caller_key,
)
from drf_mcp.codes import APPROACHING
from drf_mcp.dispatch.response import keep_serializers
from drf_mcp.exceptions import Conflict, attempt
from drf_mcp.features import LimitReached, get_rows, mcp_settings
from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import Block
from drf_mcp.outcomes import (
    MISSING,
    Fidelity,
    JSONPointer,
    Outcome,
    Pagination,
    Problem,
    Severity,
    Source,
    Warning,
)

Result = TypeVar("Result")
# 1 to 255 visible characters of ASCII.
KEY = re.compile(r"[!-~]{1,255}")
ANONYMOUS = "A key needs a caller who is signed in: anonymous callers look alike."
OWNER_LENGTH, OPERATION_LENGTH = 255, 255
# How often a change is tried whose key other calls take and give back.
MOST_ATTEMPTS = 20
# The members of a successful outcome that are kept: not the quota that was left at that time.
KEPT = (
    "tool",
    "status",
    "data",
    "content",
    "suggestions",
    "telemetry",
    "fidelity",
    "meta",
    "source",
    "request_id",
    "pagination",
)
REPLAYED = "replayed"


# --- Outcomes as text ----------------------------------------------------------------------------


class KeptEncoder(JSONEncoder):
    # Writes ASCII, which every database can store.

    def __init__(self) -> None:
        super().__init__(allow_nan=False, separators=(",", ":"))

    def default(self, obj: Any) -> Any:
        if is_dataclass(obj) and type(obj).__module__ == Outcome.__module__:
            members = ((field.name, getattr(obj, field.name)) for field in fields(obj))
            return {name: value for name, value in members if value is not MISSING}
        return super().default(obj)


def _select_warnings(warnings: Iterable[Warning]) -> list[Warning]:
    return [warning for warning in warnings if warning.code != APPROACHING]


def _read_warning(members: dict[str, Any]) -> Warning:
    def read_severity(known: dict[str, Any]) -> dict[str, Any]:
        severity = known["severity"]
        return {**known, "severity": None if severity is None else Severity(severity)}

    problems = tuple(Problem(**read_severity(problem)) for problem in members["problems"])
    return Warning(**{**read_severity(members), "problems": problems})


def write_outcome(outcome: Outcome) -> str:
    """Return the text of an outcome without a failure; what is lazy in it is read."""
    members = {name: getattr(outcome, name) for name in KEPT}
    return KeptEncoder().encode({**members, "warnings": _select_warnings(outcome.warnings)})


def read_outcome(text: str) -> Outcome:
    """Return the outcome of a text that `write_outcome` wrote."""
    members = json.loads(text)
    members["warnings"] = tuple(map(_read_warning, members["warnings"]))
    for name in ("content", "suggestions"):
        members[name] = tuple(members[name])
    members["source"] = Source(**members["source"])
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
        operation: the first request's.
    """

    status_code = 422
    default_code = "idempotency_key_reused"

    def __init__(self, differing: tuple[str, ...], operation: str) -> None:
        self.differing = differing
        names = [JSONPointer(pointer).dotted or "the body" for pointer in differing]
        other = f"with another value of: {', '.join(names)}" if names else f"for {operation}"
        super().__init__(f"The idempotency key was used before, {other}.")


class Taken(Exception):
    """Another call has the key: it made the change, or was refused just now."""


def is_key(value: Any) -> bool:
    return isinstance(value, str) and KEY.fullmatch(value) is not None


def fingerprint(value: Any) -> str:
    """Return a hash of a JSON value that does not reveal the value, be it a short secret."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return salted_hmac("drf_mcp.idempotency", text, algorithm="sha256").hexdigest()[:32]


def find_records() -> Any:
    return get_rows("drf_mcp_writes.IdempotencyRecord")


@dataclass(frozen=True)
class IntendedChange:
    """A change that a caller intends, by the key that names it.

    Attributes:
        owner: who is calling, not "".
        key: the caller's key; "" makes one of the operation and the arguments.
        operation: the name of the tool, or the method and the path.
        arguments: the fingerprints of the arguments, by their pointers.
        seconds: how long the answer is given again.
        holder: whom the bounds of keys count.
    """

    owner: str
    key: str
    operation: str
    arguments: Mapping[str, str]
    seconds: int
    holder: str

    @property
    def digest(self) -> str:
        return fingerprint(
            [self.owner, self.key or [self.operation, dict(sorted(self.arguments.items()))]]
        )

    def make(
        self, perform: Callable[[Any], Result], replay: Callable[[str, str, datetime], Result]
    ) -> Result:
        """Make the change in one transaction with its record, or answer from the record.

        A request with the same key waits for this one, by the database.

        Args:
            perform: makes the change with the row of its record, which it keeps, frees or undoes.
            replay: reads the answer that was kept, and gets the rights that it was made under and
                the time.

        Raises:
            KeyReused: if the key was used for another change.
            Conflict: if others keep taking the key and giving it back.
        """
        for _attempt in range(MOST_ATTEMPTS):
            try:
                with transaction.atomic(using=find_records().db):
                    return perform(self.claim())
            except Taken:
                kept = self.find_answer()
            if kept is not None:
                return replay(*kept)
        raise Conflict("Requests with this idempotency key are still being answered.")

    def keep(self, row: Any, answer: str, rights: str) -> None:
        """Keep the answer of a change that was made, and the caller's rights, as a hash."""
        expires = timezone.now() + timedelta(seconds=self.seconds)
        rows = find_records().filter(pk=row.pk)
        rows.update(answer=answer, size=len(answer), rights=rights, expires=expires)

    def free(self, row: Any) -> None:
        """Give the key back after a refusal, and keep what the view wrote all the same."""
        # Nothing is kept of a transaction that the view has given up.
        if not transaction.get_connection(row._state.db).needs_rollback:
            find_records().filter(pk=row.pk).delete()

    def undo(self, row: Any) -> None:
        """Give the key back after a crash, and take back what the view wrote."""
        transaction.set_rollback(True, using=row._state.db)

    def claim(self) -> Any:
        """Return the row of the change, which becomes visible with the change.

        Raises:
            Taken: if there is one, in a transaction of another call or by now.
            LimitReached: if so many answers are kept that no change more is remembered.
        """
        now = timezone.now()
        kept = find_records().filter(holder=self.holder, expires__gt=now)
        sums = {"count": Count("pk"), "size": Sum("size"), "first": Min("expires")}
        for usage in kept.values("holder").annotate(**sums):
            used = {"MAX_KEYS": usage["count"], "MAX_KEYS_CHARACTERS": usage["size"]}
            full = [name for name, count in used.items() if count >= getattr(mcp_settings, name)]
            if full and not kept.filter(pk=self.digest).exists():
                raise LimitReached(full[0], (usage["first"] - now).total_seconds())
        try:
            return find_records().create(
                digest=self.digest,
                owner=self.owner[:OWNER_LENGTH],
                holder=self.holder,
                key=self.key,
                operation=self.operation,
                arguments=self.arguments,
                created=now,
                expires=now + timedelta(seconds=self.seconds),
            )
        except IntegrityError as exc:
            raise Taken from exc

    def find_answer(self) -> tuple[str, str, datetime] | None:
        """Return the answer that is kept, its caller's rights and its time; None without one.

        Raises:
            KeyReused: if the key was used for another change.
        """
        # A lock reads the present row, also where the transaction shows an older one.
        with transaction.atomic(using=find_records().db):
            row = find_records().select_for_update().filter(pk=self.digest).first()
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
        return row.answer, row.rights, row.created


# --- Plain HTTP ----------------------------------------------------------------------------------


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


class IdempotencyKeyMixin:
    """Lets a view take the header ``Idempotency-Key`` of requests that change something.

    List it before the view's other base classes. A tool of the view takes the key as its argument
    ``idempotency_key``; both doors have one record of a change. Refused are a key of another
    request (422), and a missing one where it is required (400); a request whose first is still
    running waits for the answer (IETF draft-ietf-httpapi-idempotency-key-header).

    Attributes:
        idempotency_key_required: True refuses requests without a key.
    """

    takes_idempotency_key: ClassVar[bool] = True
    idempotency_key_required: bool = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate and ask permissions and throttles, and then put the record around the
        handler."""
        super().initial(request, *args, **kwargs)  # type: ignore[misc]
        method = str(request.method).lower()
        if request.method not in SAFE_METHODS and (handler := getattr(self, method, None)):
            setattr(self, method, functools.partial(self._make_once, handler))

    def _make_once(self, handler: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return the handler's response, or the response to the first request with the same key."""
        key = self.read_idempotency_key(request)
        if not key or getattr(call_context(request), "dry_run", False):
            return handler(request, *args, **kwargs)
        notes, change = call_context(request), self.describe_intended_change(request, key)

        def find_rights() -> str:
            return get_rights_fingerprint(request, ask_view_for_rights(self, request))

        def keep_refusal(exc: Exception) -> Exception:
            # What the handler wrote before is kept, as it would be without a key: raised later.
            if isinstance(exc, (Http404, PermissionDenied)):
                return exc
            if getattr(exc, "status_code", 500) < 500:
                return exc
            raise exc

        def perform(row: Any) -> Any:
            answer = attempt(lambda: handler(request, *args, **kwargs), otherwise=keep_refusal)
            if isinstance(answer, Exception) or 400 <= answer.status_code < 500:
                change.free(row)
            elif answer.status_code >= 500:
                change.undo(row)
            else:
                change.keep(row, text := _write_answer(answer, notes), find_rights())
                if isinstance(answer, Response):
                    # The first answer has the data that all others have, and knows its objects.
                    answer.data = keep_serializers(answer.data, json.loads(text)["data"])
                    return answer
                return _read_response(json.loads(text))
            return answer

        def replay(text: str, rights: str, made: datetime) -> Any:
            notes.meta[REPLAYED] = True
            response: HttpResponseBase = Response({"detail": MADE})
            if find_rights() == rights and (not is_old(made) or finds_object(self)):
                members = json.loads(text)
                notes.warnings += map(_read_warning, members["warnings"])
                notes.suggestions += members["suggestions"]
                notes.blocks += map(Block, members["blocks"])
                notes.telemetry.update(members["telemetry"])
                notes.content_version, notes.content_hash = members["version"]
                response = _read_response(members)
            response["Idempotency-Replayed"] = "true"
            return response

        answer = change.make(perform, replay)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read_idempotency_key(self, request: Request) -> str:
        """Return the key of a request, "" for none."""
        header = request.headers.get(KeyHeader.name)
        if header is None and not self.idempotency_key_required:
            return ""
        key = "" if header is None else KeyHeader.read(header)
        if not is_key(key):
            if header is None:
                raise ParseError(f"This request needs the header {KeyHeader.name}.")
            raise ParseError(f"{KeyHeader.name} has 1 to 255 visible ASCII characters.")
        return key

    def describe_intended_change(self, request: Request, key: str) -> IntendedChange:
        """Return what the key identifies; another method, path, query or body is another change."""
        owner = make_caller_key(request.user, request.auth, request._request)
        if not owner:
            raise ParseError(ANONYMOUS)
        operation = f"{request.method} {request.path}"
        if len(operation) > OPERATION_LENGTH:
            operation = hashlib.sha256(operation.encode()).hexdigest()
        query: Any = request.query_params
        data: Any = request.data
        # As pointers: query and body may have arguments of one name.
        sent: dict[str, Any] = {f"/query/{name}": query.getlist(name) for name in query}
        if not isinstance(data, Mapping):
            sent[""] = data
        for name in data if isinstance(data, Mapping) else ():
            values = data.getlist(name) if hasattr(data, "getlist") else [data[name]]
            hashed = list(map(_hash_received_file, values))
            # One value of a form is what it is in JSON.
            sent[f"/{name}"] = hashed[0] if len(hashed) == 1 else hashed
        arguments = {pointer: fingerprint(value) for pointer, value in sent.items()}
        seconds = mcp_settings.IDEMPOTENCY_WINDOW
        holder = find_holder(request.user, request.auth, request._request)
        return IntendedChange(owner, key, operation, arguments, seconds, holder)


def _hash_received_file(value: Any) -> Any:
    if not hasattr(value, "chunks"):
        return value
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return [value.name, digest.hexdigest()]


def _write_answer(response: Any, notes: Any) -> str:
    """Return the text of a response, and of the notes of its view."""
    is_data = isinstance(response, Response)
    content = "" if is_data else base64.b64encode(response.getvalue()).decode()
    return KeptEncoder().encode(
        {
            **({"data": response.data} if is_data else {"content": content}),
            "status": response.status_code,
            "headers": dict(response.items()),
            "warnings": _select_warnings(notes.warnings),
            "suggestions": notes.suggestions,
            "telemetry": notes.telemetry,
            "blocks": [b.members for b in (*notes.blocks, *getattr(response, "blocks", ()))],
            "version": [notes.content_version, notes.content_hash],
        }
    )


def _read_response(members: Mapping[str, Any]) -> HttpResponseBase:
    status = members["status"]
    response: HttpResponseBase = (
        Response(members["data"], status)
        if "data" in members
        else HttpResponse(base64.b64decode(members["content"]), status=status)
    )
    for name, value in members["headers"].items():
        response[name] = value
    return response
