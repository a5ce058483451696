"""One read of a resource: from the view's answer to contents."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.access.error_responses import make_scope_error
from drf_mcp.contrib.resources.routes import JSON, RouteResource
from drf_mcp.envelopes.plain import PlainEnvelope
from drf_mcp.exceptions import (
    InternalError,
    InvalidParams,
    ProtocolError,
    ResourceNotFound,
    contain,
)
from drf_mcp.features import CallState
from drf_mcp.observability.logging import CallLogger
from drf_mcp.outcomes import Category, Outcome
from drf_mcp.protocol import Encoded, jsonrpc
from drf_mcp.protocol.constants import STATELESS_REVISION
from drf_mcp.protocol.context import RequestContext
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.results import ResultWriter

# What a caller may not read is as if it were not there.
HIDDEN = frozenset({Category.NOT_FOUND, Category.AUTHORIZATION, Category.AUTHENTICATION})
REMARKS = "#remarks"


class BodyEnvelope(PlainEnvelope):
    """The body of a response as its media type has it."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json

    def text(self, outcome: Outcome, rendered: Any, encode: Any) -> str:
        is_text = isinstance(rendered, str) and not self.is_json
        return str(rendered) if is_text else encode(rendered)

    def remarks(self, outcome: Outcome) -> Any:
        # What is for the next call of the tool says nothing of the body.
        is_told = outcome.warnings or outcome.fidelity is not None
        return super().remarks(outcome) if is_told else None


class Reading:
    """One request for a resource of a route.

    Args:
        dispatcher: calls the view.
    """

    def __init__(
        self,
        resource: RouteResource,
        uri: str,
        context: RequestContext,
        registry: Any,
        dispatcher: Any,
    ) -> None:
        self.resource = resource
        self.context = context
        self.registry = registry
        self.uri = uri
        self.dispatcher = dispatcher

    def get_contents(self) -> list[dict[str, Any]]:
        """Return the contents of the resource.

        Raises:
            ProtocolError: if there are none for the caller.
        """
        started, caller = time.perf_counter(), self.context.caller
        call = CallState(self.resource, {"uri": self.uri}, caller, self.context)
        outcome = self.dispatcher.dispatch(call)
        contents: list[dict[str, Any]] = []

        def fail(exc: Exception) -> None:
            nonlocal outcome
            outcome = self.dispatcher.get_crash_outcome(call, caller.request, exc)

        if not outcome.is_error:
            contain(lambda: contents.extend(self.write(outcome)), fail)
        record = {"content": Encoded(jsonrpc.encode(contents))}
        CallLogger(self.context).record(self.resource, outcome, record, started)
        if outcome.scopes and not caller.in_batch:
            raise make_scope_error(caller, outcome.scopes)
        if outcome.is_error or not contents:
            raise self.get_error(outcome)
        return contents

    def write(self, outcome: Outcome) -> list[dict[str, Any]]:
        kind = (outcome.media_type or JSON).partition(";")[0].strip().lower()
        is_json = kind == JSON or kind.endswith("+json")
        if not is_json and not isinstance(outcome.data, str):
            # A file; a link to one that is too large is no content of this resource.
            return [file for file in map(self.get_file, outcome.content) if file is not None][:1]
        writer = ResultWriter(BodyEnvelope(is_json=is_json), self.context.era)
        _, texts = writer.write_texts(outcome, self.get_budget())
        contents = [{"uri": self.uri, "mimeType": kind, "text": texts[0]}]
        # What was left out of the body, and how to get it.
        further = {"uri": self.uri + REMARKS, "mimeType": JSON}
        return contents + [{**further, "text": text} for text in texts[1:]]

    def get_file(self, block: Mapping[str, Any]) -> dict[str, Any] | None:
        if block["type"] in ("image", "audio"):
            return {"uri": self.uri, "mimeType": block["mimeType"], "blob": block["data"]}
        if block["type"] != "resource":
            return None
        return {**block["resource"], "uri": self.uri}

    def get_budget(self) -> Any:
        message, caller = self.context.message, self.context.caller
        return mcp_settings.BUDGET_CLASS(self.resource, {}, caller, self.registry, message.meta)

    def get_error(self, outcome: Outcome) -> ProtocolError:
        failure = outcome.failure
        if failure is None:
            limit = mcp_settings.MAX_CONTENT_BYTES
            message = _("The resource has more than %(limit)d bytes.") % {"limit": limit}
            return InternalError(message, http_status=200)
        if failure.category in HIDDEN or outcome.status in (404, 405, 410):
            return make_not_found(self.uri, self.context)
        sentence = BodyEnvelope(is_json=True).reason(failure, None)
        if outcome.status < 429:
            return InvalidParams(sentence, data={"uri": self.uri}, http_status=200)
        facts = {"uri": self.uri, "request_id": outcome.request_id, **failure.context}
        return InternalError(sentence, data=facts, http_status=200)


def make_not_found(uri: str, context: RequestContext) -> ResourceNotFound:
    code = -32602 if context.era.revision == STATELESS_REVISION else -32002
    return ResourceNotFound(uri, code)


def encode_content(uri: str, media_type: str, content: str | bytes) -> dict[str, Any]:
    """Return one of the contents of a document."""
    known = {"uri": uri, "mimeType": media_type}
    if isinstance(content, str):
        return {**known, "text": content}
    return {**known, "blob": base64.b64encode(content).decode("ascii")}
