"""``content_retrieve``: the view that fetches what a result had no room for, in slices.

The view is a tool of the endpoint. Over plain HTTP, at ``mcp/content/``, it takes the
endpoint's authentication and permissions.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import NotFound
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.access.authentication import Caller, resolve_authentication_classes
from drf_mcp.access.visibility_cache import find_identity
from drf_mcp.archive import Entry, can_archive
from drf_mcp.archive.slices import PassageSearch, Slicer, find_numbers
from drf_mcp.archive.withheld import (
    GONE,
    ReadableItems,
    Withheld,
    raise_unavailable,
    withheld_cache,
)
from drf_mcp.dispatch.probe import REFUSALS
from drf_mcp.dispatch.stored_answers import StoredAnswer
from drf_mcp.exceptions import Unavailable, contain
from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import find_call
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.options import mcp_tool
from drf_mcp.tools.registry import registry
from drf_mcp.truncation import RETRIEVAL_TOOL, LeadDigester

logger = logging.getLogger("drf_mcp")

# Django takes a thousand parameters in one query.
MAX_IDS = 500
# The prefix of content hashes; archive ids have no colon.
HASH_PREFIX = "sha256:"
WITHHELD = "CONTENT_WITHHELD"

# Each result that is shortened names the call that fetches the rest, with its arguments.
DESCRIPTION = gettext_lazy("Fetch what a shortened result left out. Go on at next_offset.")

PARAMETERS: Mapping[str, dict[str, Any]] = {
    "archive_id": {"type": "string"},
    "content_hash": {"type": "string"},
    "query": {"type": "string"},
    "ids": {"type": "array", "items": {"type": "string"}},
    "offset": {"type": "integer"},
    "limit": {"type": "integer"},
    "canonical": {"type": "boolean"},
}


class ItemId(serializers.Field[Any, Any, Any, Any]):
    """The id of an item, any text: a key of the project's rows, which `CharField` may refuse."""

    def to_internal_value(self, data: Any) -> str:
        return str(data)


class RetrievalSerializer(serializers.Serializer[Any]):
    archive_id = serializers.CharField(required=False)
    content_hash = serializers.CharField(required=False)
    query = serializers.CharField(required=False, max_length=1000)
    ids = serializers.ListField(child=ItemId(), required=False, max_length=MAX_IDS)
    offset = serializers.IntegerField(min_value=0, default=0)
    limit = serializers.IntegerField(min_value=1, default=None)
    canonical = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named, digest = attrs.get("archive_id"), attrs.get("content_hash")
        if not named and not digest:
            message = _("Name the content: archive_id or content_hash.")
            raise serializers.ValidationError({"archive_id": [message]}, "required")
        if named and named.startswith(HASH_PREFIX):
            attrs |= {"archive_id": None, "content_hash": digest or named}
            if digest not in (None, "", named):
                raise NotFound(GONE)
        return attrs


class ItemsById(BaseFilterBackend):
    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        ids = view.arguments.get("ids")
        if not ids:
            return queryset.find()
        asked, unknown = find_numbers(queryset.items, ids)
        if unknown:
            text = _("Not among the archived items: %(ids)s.")
            raise NotFound(text % {"ids": ", ".join(unknown[:10])})
        return queryset.find(asked)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            {"name": name, "in": "query", "required": name == "archive_id", "schema": schema}
            for name, schema in PARAMETERS.items()
        ]


@mcp_tool(
    name=RETRIEVAL_TOOL,
    title=gettext_lazy("Fetch the rest of a result"),
    description=DESCRIPTION,
    read_only=True,
    condition=can_archive,
)
class ContentRetrieveView(GenericAPIView[Any]):
    """Gives archived items, in slices that fit the budget of a result.

    Every read asks whether the caller may still read the items.
    """

    # The endpoint's permissions are asked by `Caller.authenticate`.
    permission_classes = [AllowAny]
    filter_backends = [ItemsById]
    # The content is rendered already.
    renderer_classes = [JSONRenderer]
    versioning_class = None
    pagination_class = None
    # Not in the OpenAPI schema of the project.
    schema = None

    def get(self, request: Request) -> Response:
        self.caller.authenticate()
        serializer = RetrievalSerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        self.arguments: dict[str, Any] = serializer.validated_data
        entry = self._find_entry(request)
        facts = {name: getattr(entry, name) for name in ("archive_id", "content_hash", "tool")}
        return Response({**facts, **self._slice(entry)})

    def _find_entry(self, request: Request) -> Entry:
        archive_class = mcp_settings.ARCHIVE_CLASS
        archive_id, digest = self.arguments.get("archive_id"), self.arguments.get("content_hash")
        if archive_class is None:
            raise NotFound(GONE)

        def fetch() -> Entry | None:
            archive = archive_class()
            owner = archive.get_owner(request.user, self.caller.request)
            entry: Entry | None = (
                archive.fetch(archive_id, owner) if archive_id else archive.find(digest, owner)
            )
            # Reads the content, so that a failure to read it is caught.
            return entry if entry is None or entry.items else None

        entry = contain(fetch, raise_unavailable)
        if entry is None or (digest and digest != entry.content_hash):
            raise NotFound(GONE)
        return entry

    def _slice(self, entry: Entry) -> dict[str, Any]:
        call = find_call(self.request)
        limit = mcp_settings.MAX_RESULT_TOKENS if call is None else call.result_limit
        slicer = Slicer(limit, self.arguments["offset"], self.arguments["limit"])
        readable: Any = ReadableItems(entry.items, self._find_withheld(entry))
        if count := len(readable.withheld.keys):
            text = ngettext(
                "%(count)d row of this answer can no longer be read.",
                "%(count)d rows of this answer can no longer be read.",
                count,
            )
            context = {"withheld_count": count}
            call_context(self.request).warn(text % {"count": count}, code=WITHHELD, context=context)
        if query := self.arguments.get("query"):
            items: Any = self.filter_queryset(readable)
            passages = PassageSearch(query).find(items)
            if not passages:
                call_context(self.request).suggest(
                    _("No item has a word of the query. Try other words, or read on without query.")
                )
            return slicer.slice_passages(passages)
        if not self.arguments.get("ids") and len(readable.items) > 1:
            return contain(partial(slicer.slice_window, readable), raise_unavailable)
        digester_class = mcp_settings.DIGESTER_CLASS or LeadDigester
        form = digester_class().canonical if self.arguments["canonical"] else None
        items = self.filter_queryset(readable)
        return slicer.slice(items, form)

    def _find_withheld(self, entry: Entry) -> Withheld:
        caller = self.caller
        served = getattr(caller.view, "registry", registry)
        tool = served.tools(getattr(caller.request, "urlconf", None)).get(entry.tool)
        if tool is None or caller.find_narrowing(tool) is not None:
            raise NotFound(GONE)
        answer = StoredAnswer(caller, tool, entry.kwargs, entry.query_string)

        def find() -> Withheld:
            return Withheld.of(answer.find_withheld(entry.terms, entry.rows, entry), entry.rows)

        def reject(exc: Exception) -> NoReturn:
            # In the words for content that never existed.
            if isinstance(exc, REFUSALS) and getattr(exc, "status_code", 403) < 500:
                raise NotFound(GONE) from exc
            # The rights are not known.
            logger.warning("%s could not be asked again", tool.name, exc_info=exc)
            raise Unavailable from exc

        identity = find_identity(caller.authenticate())
        key = identity and (entry.archive_id, identity)
        withheld: Withheld = contain(partial(withheld_cache.get, key, find), reject)
        return withheld

    @property
    def caller(self) -> Caller:
        request: HttpRequest = getattr(self.request, "_request", self.request)
        caller = getattr(request, "caller", None)
        if isinstance(caller, Caller):
            return caller
        # Plain HTTP.
        classes = resolve_authentication_classes()
        return Caller(request, self, classes, mcp_settings.PERMISSION_CLASSES)

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [authenticator() for authenticator in self.caller.authentication_classes]
