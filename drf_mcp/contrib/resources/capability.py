"""One read of a resource: from the view's answer to contents."""

from __future__ import annotations

import base64
import copy
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drf_mcp.calls.results import ResultWriter
from drf_mcp.contrib.resources.routes import (
    ANNOTATIONS,
    JSON,
    Document,
    Folder,
    RouteResource,
    URISpace,
)
from drf_mcp.dispatch.content import encode_data
from drf_mcp.envelopes.plain import PlainEnvelope
from drf_mcp.exceptions import (
    InternalError,
    InvalidParams,
    ProtocolError,
    ResourceNotFound,
    attempt,
)
from drf_mcp.exposure import Tool
from drf_mcp.features import (
    CallState,
    Capability,
    Either,
    Encoded,
    Feature,
    Flag,
    MembersOf,
    RequestContext,
    Setting,
    Text,
    mcp_settings,
)
from drf_mcp.json_text import to_bytes
from drf_mcp.observability.records import record_call
from drf_mcp.outcomes import Category, Outcome
from drf_mcp.protocol import REVISIONS, jsonrpc
from drf_mcp.protocol.constants import CACHE_MEMBERS, STATELESS_REVISION

_OLD = frozenset({"uri", "uriTemplate", "name", "title", "description", "mimeType", "_meta"})
_OLD |= {"annotations", "size"}
# Revision -> members of a Resource and of a ResourceTemplate.
MEMBERS = dict.fromkeys(REVISIONS, _OLD | {"icons"}) | {"2025-06-18": _OLD}
RESULTS: Mapping[str, frozenset[str]] = {
    "resources/list": frozenset({"resources", "nextCursor", "_meta"}),
    "resources/templates/list": frozenset({"resourceTemplates", "nextCursor", "_meta"}),
    "resources/read": frozenset({"contents", "_meta"}),
}
STATELESS = {name: members | CACHE_MEMBERS | {"resultType"} for name, members in RESULTS.items()}
# Failures after which a resource counts as missing.
HIDDEN = frozenset({Category.NOT_FOUND, Category.AUTHORIZATION, Category.AUTHENTICATION})
REMARKS = "#remarks"


class ResourcesCapability(Capability):
    """Lists and reads resources: routes of tools that read, and documents (server/resources)."""

    name = "resources"
    methods = {
        "resources/list": "list_resources",
        "resources/templates/list": "list_templates",
        "resources/read": "read_resource",
    }
    name_parameters = {"resources/read": "uri"}
    result_members = dict.fromkeys(REVISIONS, RESULTS) | {"2026-07-28": STATELESS}

    @property
    def pages(self) -> Any:
        return self.server.find_capability("io.modelcontextprotocol/ui")

    @property
    def uris(self) -> URISpace:
        return URISpace(self.server.name or mcp_settings.SERVER_NAME)

    def get_documents(self, context: RequestContext) -> Sequence[Document]:
        """Return the documents of a request, those in folders aside."""
        documents: Sequence[Document] = self.server.registry.find_added(Document)
        return documents

    def find_folders(self, context: RequestContext) -> Sequence[Folder]:
        """Return the folders of documents of a request."""
        folders: Sequence[Folder] = self.server.registry.find_added(Folder)
        return folders

    def find_routes(self, tools: Iterable[Tool]) -> list[RouteResource]:
        """Return the tools that are resources as well."""
        uris = self.uris
        return [found for tool in tools if (found := RouteResource.of(tool, uris)) is not None]

    # --- Lists ----------------------------------------------------------------------------------

    def list_resources(self, context: RequestContext) -> dict[str, Any]:
        routes = [route for route in self._find_visible_routes(context) if route.is_single]
        documents = [*self.get_documents(context), *(f.main for f in self.find_folders(context))]
        listed = [document.get_resource(self.uris) for document in documents]
        listed += map(RouteResource.get_resource, routes)
        return self._make_list("resources", listed, "uri", context)

    def list_templates(self, context: RequestContext) -> dict[str, Any]:
        routes = [route for route in self._find_visible_routes(context) if route.is_template]
        listed = [route.make_template() for route in routes]
        return self._make_list("resourceTemplates", listed, "uriTemplate", context)

    def _find_visible_routes(self, context: RequestContext) -> list[RouteResource]:
        capability = self.server.tools_capability
        offered = capability.find_offered_tools(context).values()
        return self.find_routes(capability.find_visible(offered, context))

    def _make_list(
        self, member: str, listed: list[dict[str, Any]], key: str, context: RequestContext
    ) -> dict[str, Any]:
        size = mcp_settings.TOOLS_PAGE_SIZE
        page, following = context.cut_page(listed, size, lambda item: str(item[key]))
        names = MEMBERS[context.era.revision]
        defined = [context.era.find_defined(item, names) for item in page]
        members: dict[str, Any] = {member: Encoded(to_bytes(encode_data(defined)))}
        return members if following is None else {**members, "nextCursor": following}

    # --- resources/read -------------------------------------------------------------------------

    def read_resource(self, context: RequestContext) -> dict[str, Any]:
        uri = context.message.params.get("uri")
        if not isinstance(uri, str):
            message = 'The params of resources/read must name a resource: "uri", a string.'
            raise InvalidParams(message)
        return self.read(uri, context)

    def read(self, uri: str, context: RequestContext) -> dict[str, Any]:
        """Return the members of a result with the contents of a resource."""
        found = self.find(uri, context)
        if isinstance(found, Document):
            members: dict[str, Any] = {"contents": self._read_document(found, context)}
            if found.is_fixed and self.server.tools_capability.is_public(found.tools, context):
                members["cacheScope"] = "public"
            return members
        contents = Reading(found, uri, context, self.server).read_contents()
        # The rows of a database may change at any time.
        members = {"contents": contents, "ttlMs": 0}
        return members | ({"_meta": found.hints.result_meta} if found.options.untrusted else {})

    def find(self, uri: str, context: RequestContext) -> Document | RouteResource:
        """Return what a URI identifies, whether or not the caller may read it."""
        page: Document | None = self.pages.find_page(uri, context) if self.pages else None
        if page is not None:
            return page
        for folder in self.find_folders(context):
            if (file := folder.get_document(uri)) is not None:
                return file
        for document in self.get_documents(context):
            if document.make_uri(self.uris) == uri:
                return document
        # A guard refuses a resource whose tool is taken away from the caller.
        routes = self.find_routes(self.server.tools_capability.get_tools(context).values())
        for match, query in self.uris.find_matches(uri, context.urlconf):
            for route in routes:
                if (found := route.at(match, query)) is not None:
                    return found
        context.caller.authenticate()
        raise _make_not_found(uri, context)

    def find_template(self, template: str, context: RequestContext) -> RouteResource | None:
        """Return the resources of a URI template, None if the caller is offered none."""
        offered = self.server.tools_capability.find_offered_tools(context).values()
        routes = [route for route in self.find_routes(offered) if route.is_template]
        return next((route for route in routes if route.uri_template == template), None)

    def _read_document(self, document: Document, context: RequestContext) -> list[dict[str, Any]]:
        context.caller.authenticate()
        started = time.perf_counter()
        uri = document.make_uri(self.uris)
        content: dict[str, Any] = {"uri": uri, "mimeType": document.media_type}
        read = document.read()
        if isinstance(read, str):
            content["text"] = read
        else:
            content["blob"] = base64.b64encode(read).decode("ascii")
        if document.meta:
            content["_meta"] = document.meta
        outcome = Outcome(document.name, 200)
        record = {"content": content.get("text") or content.get("blob", "")}
        record_call(context, document, outcome, record, started)
        return [content]


class BodyEnvelope(PlainEnvelope):
    """The body of a response as its media type has it."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json

    def text(self, outcome: Outcome, rendered: Any, encode: Any) -> str:
        is_text = isinstance(rendered, str) and not self.is_json
        return str(rendered) if is_text else encode(rendered)

    def remarks(self, outcome: Outcome) -> Any:
        # Remarks for the next call of the tool are of no use to a reader of the resource.
        is_about_body = outcome.warnings or outcome.fidelity is not None
        return super().remarks(outcome) if is_about_body else None


class Reading:
    """One request for a resource of a route."""

    def __init__(
        self, resource: RouteResource, uri: str, context: RequestContext, server: Any
    ) -> None:
        self.resource = resource
        self.context = context
        self.server = server
        self.uri = uri
        # The dispatcher of the tools, with its guards.
        self.dispatcher = copy.copy(server.tools_capability.make_dispatcher())
        # A view with an envelope of the project's own is read with that envelope.
        self.dispatcher.recognize = None

    def read_contents(self) -> list[dict[str, Any]]:
        started, caller = time.perf_counter(), self.context.caller
        call = CallState(self.resource, {"uri": self.uri}, caller, self.context)
        outcome = self.dispatcher.dispatch(call)
        contents: list[dict[str, Any]] = []

        def fail(exc: Exception) -> None:
            nonlocal outcome
            outcome = self.dispatcher.make_crash_outcome(call, caller.request, exc)

        if not outcome.is_error:
            attempt(lambda: contents.extend(self.write(outcome, call.response)), otherwise=fail)
        record = {"content": Encoded(jsonrpc.encode(contents))}
        record_call(self.context, self.resource, outcome, record, started)
        if outcome.failure is not None and outcome.failure.scopes:
            raise caller.make_scope_error(outcome.failure.scopes)
        if outcome.is_error or not contents:
            raise self._get_error(outcome)
        return contents

    def write(self, outcome: Outcome, response: Any) -> list[dict[str, Any]]:
        # Data that was read unrendered is JSON.
        media_type = response.media_type if response is not None else ""
        kind = (media_type or JSON).partition(";")[0].strip().lower()
        is_json = kind == JSON or kind.endswith("+json")
        if not is_json and not isinstance(outcome.data, str):
            # A file; a link to one that is too large is no content of this resource.
            for block in outcome.content:
                if block["type"] in ("image", "audio"):
                    known = {"uri": self.uri, "mimeType": block["mimeType"]}
                    return [{**known, "blob": block["data"]}]
                if block["type"] == "resource":
                    return [{**block["resource"], "uri": self.uri}]
            return []
        context, registry = self.context, self.server.registry
        budget_class: Any = mcp_settings.BUDGET_CLASS
        meta = context.message.meta
        budget = budget_class(self.resource, {}, context.caller, registry, meta)
        writer = ResultWriter(BodyEnvelope(is_json=is_json), context.era)
        _, texts = writer.write_texts(outcome, budget)
        contents = [{"uri": self.uri, "mimeType": kind, "text": texts[0]}]
        # What was left out of the body, and how to get it.
        further = {"uri": self.uri + REMARKS, "mimeType": JSON}
        return contents + [{**further, "text": text} for text in texts[1:]]

    def _get_error(self, outcome: Outcome) -> ProtocolError:
        failure = outcome.failure
        if failure is None:
            limit = mcp_settings.MAX_CONTENT_BYTES
            message = f"The resource has more than {limit} bytes."
            return InternalError(message, http_status=200)
        if failure.category in HIDDEN or outcome.status in (404, 405, 410):
            return _make_not_found(self.uri, self.context)
        sentence = BodyEnvelope(is_json=True).reason(failure, None)
        if outcome.status < 429:
            return InvalidParams(sentence, data={"uri": self.uri}, http_status=200)
        facts = {"uri": self.uri, "request_id": outcome.request_id, **failure.context}
        return InternalError(sentence, data=facts, http_status=200)


def _make_not_found(uri: str, context: RequestContext) -> ResourceNotFound:
    code = -32602 if context.era.revision == STATELESS_REVISION else -32002
    return ResourceNotFound(uri, code)


RESOURCE_DETAILS = MembersOf(
    "a dict with any of title, description, mimeType and annotations",
    {
        "title": Text(lazy=True),
        "description": Text(lazy=True),
        "mimeType": Text(),
        "annotations": ANNOTATIONS,
    },
)


class ResourcesFeature(Feature):
    tool_options = {
        # True for what the tool reads as a resource, False for none. By default tools that retrieve
        # one object are. A dict of title, description, mimeType and annotations says more. See
        # docs/resources.md.
        "resource": Setting(None, Either(Flag(), RESOURCE_DETAILS).or_none())
    }
    capability_classes = ("drf_mcp.contrib.resources.capability.ResourcesCapability",)
