from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.access.scopes import ask_view_for_rights, get_caller_key, get_rights_fingerprint
from drf_mcp.contrib.writes.idempotency.records import (
    ANONYMOUS,
    OPERATION_LENGTH,
    REPLAYED,
    Claim,
    IntendedChange,
    KeptEncoder,
    KeyHeader,
    fingerprint,
    is_key,
    read_warning,
    write_warnings,
)
from drf_mcp.dispatch.stored_answers import MADE
from drf_mcp.exceptions import contain
from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import Block
from drf_mcp.settings import mcp_settings

REPLAYED_HEADER = "Idempotency-Replayed"


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
            setattr(self, method, functools.partial(self.make_once, handler))

    def make_once(self, handler: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return the response of the handler, or that of the first request with the same key."""
        key = self.get_idempotency_key(request)
        if not key or getattr(call_context(request), "dry_run", False):
            return handler(request, *args, **kwargs)

        def perform(claim: Claim) -> Any:
            answer = contain(lambda: handler(request, *args, **kwargs), keep_refusal)
            if isinstance(answer, Exception) or 400 <= answer.status_code < 500:
                claim.free()
            elif answer.status_code >= 500:
                claim.undo()
            else:
                claim.keep(text := kept.write(answer), find_rights())
                return kept.read(text, answer)
            return answer

        def find_rights() -> str:
            return get_rights_fingerprint(request, ask_view_for_rights(self, request))

        def replay(text: str, rights: str) -> Any:
            return kept.replay(text) if find_rights() == rights else kept.refuse()

        kept = KeptResponse(request)
        answer = self.get_intended_change(request, key).make(perform, replay)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def get_idempotency_key(self, request: Request) -> str:
        """Return the key of a request, "" for none."""
        header = request.headers.get(KeyHeader.name)
        if header is None:
            if self.idempotency_key_required:
                text = _("This request needs the header %(name)s.")
                raise ParseError(text % {"name": KeyHeader.name})
            return ""
        key = KeyHeader.read(header)
        if not is_key(key):
            text = _("%(name)s has 1 to 255 visible ASCII characters.")
            raise ParseError(text % {"name": KeyHeader.name})
        return key

    def get_intended_change(self, request: Request, key: str) -> IntendedChange:
        """Return what the key identifies; another method, path, query or body is another change."""
        owner = get_caller_key(request.user, request.auth, request._request)
        if not owner:
            raise ParseError(_(ANONYMOUS))
        operation = f"{request.method} {request.path}"
        if len(operation) > OPERATION_LENGTH:
            operation = hashlib.sha256(operation.encode()).hexdigest()
        arguments = {name: fingerprint(value) for name, value in find_arguments(request)}
        return IntendedChange(owner, key, operation, arguments, mcp_settings.IDEMPOTENCY_WINDOW)


def find_arguments(request: Request) -> Iterator[tuple[str, Any]]:
    # As pointers: those of the query may have the names of others in the body.
    for name in request.query_params:
        yield f"/query/{name}", request.query_params.getlist(name)
    data = request.data
    if not isinstance(data, Mapping):
        yield "", data
        return
    for name in data:
        values = data.getlist(name) if hasattr(data, "getlist") else [data[name]]
        hashed = list(map(hash_received_file, values))
        # One value of a form is what it is in JSON.
        yield f"/{name}", hashed[0] if len(hashed) == 1 else hashed


def hash_received_file(value: Any) -> Any:
    if not hasattr(value, "chunks"):
        return value
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return [value.name, digest.hexdigest()]


def keep_refusal(exc: Exception) -> Exception:
    # What the handler wrote before is kept, as it would be without a key: raised afterwards.
    if isinstance(exc, (Http404, PermissionDenied)) or getattr(exc, "status_code", 500) < 500:
        return exc
    raise exc


class KeptResponse:
    """A response and the notes of the view, as text.

    Args:
        request: the request that is answered.
    """

    def __init__(self, request: Request) -> None:
        self.notes = call_context(request)

    def write(self, response: HttpResponseBase) -> str:
        notes = self.notes
        body = (
            {"data": response.data}
            if isinstance(response, Response)
            else {"content": base64.b64encode(response.getvalue()).decode()}
        )
        return KeptEncoder().encode(
            {
                **body,
                "status": response.status_code,
                "headers": dict(response.items()),
                "warnings": write_warnings(notes.warnings),
                "suggestions": notes.suggestions,
                "telemetry": notes.telemetry,
                "blocks": [b.members for b in (*notes.blocks, *getattr(response, "blocks", ()))],
                "version": [notes.content_version, notes.content_hash],
            }
        )

    def read(self, text: str, first: Any = None) -> HttpResponseBase:
        """Return the response of a text; the first itself has the data that all others have."""
        members = json.loads(text)
        if isinstance(first, Response):
            first.data = members["data"]
            return first
        status = members["status"]
        response: HttpResponseBase = (
            Response(members["data"], status)
            if "data" in members
            else HttpResponse(base64.b64decode(members["content"]), status=status)
        )
        for name, value in members["headers"].items():
            response[name] = value
        return response

    def replay(self, text: str) -> HttpResponseBase:
        """Return the response of a text with the mark of one that comes again."""
        members, notes = json.loads(text), self.notes
        notes.warnings += map(read_warning, members["warnings"])
        notes.suggestions += members["suggestions"]
        notes.blocks += map(Block, members["blocks"])
        notes.telemetry.update(members["telemetry"])
        notes.content_version, notes.content_hash = members["version"]
        notes.meta[REPLAYED] = True
        return self.mark(self.read(text))

    def refuse(self) -> HttpResponseBase:
        """Return the response of a change that was made under other rights."""
        self.notes.meta[REPLAYED] = True
        return self.mark(Response({"detail": _(MADE)}))

    def mark(self, response: HttpResponseBase) -> HttpResponseBase:
        response[REPLAYED_HEADER] = "true"
        return response
