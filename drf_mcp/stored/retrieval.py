"""``content_retrieve``: the tool of an endpoint that fetches what a result had no room for."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.dispatch.probe import REFUSALS
from drf_mcp.exceptions import Unavailable, catch
from drf_mcp.features import CallState, Feature, ToolSource
from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import find_call
from drf_mcp.outcomes import Outcome
from drf_mcp.routes.tool import ServerTool, ServerToolView
from drf_mcp.settings import mcp_settings, say_bound
from drf_mcp.stored import Entry, can_archive
from drf_mcp.stored.answers import StoredAnswer
from drf_mcp.stored.slices import PassageSearch, Slicer, find_numbers
from drf_mcp.truncation import RETRIEVAL_TOOL, LeadDigester
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN

logger = logging.getLogger("drf_mcp")

# The prefix of content hashes; archive ids have no colon.
HASH_PREFIX = "sha256:"
# Tokens for what the result has besides a slice, such as warnings of a quota.
RESERVE = 200
# Each result that is shortened names the call that fetches the rest, with its arguments.
DESCRIPTION = "Fetch what a result left out."
GONE = (
    "There is no such content for you: it has expired, your rights have changed since, or the id "
    "is not exactly the one in content_archive_hashes. Call the tool that gave it again, asking "
    "for less; a change is not to be made again."
)
UNREADABLE = "What was left out cannot be read at the moment."
PARAMETERS: Mapping[str, dict[str, Any]] = {
    "archive_id": {"type": "string", "required": True},
    "content_hash": {"type": "string"},
    "query": {"type": "string"},
    "ids": {"type": "array", "items": {"type": "string"}},
    "offset": {"type": "integer"},
    "limit": {"type": "integer"},
    "canonical": {"type": "boolean"},
}
# For programs, which need no list.
RARE = frozenset({"content_hash", "limit", "canonical"})


class ItemId(serializers.Field[Any, Any, Any, Any]):
    """The id of an item, any text: a key of the project's rows, which `CharField` may refuse."""

    def to_internal_value(self, data: Any) -> str:
        return str(data)


class ItemIds(serializers.ListField):
    child = ItemId()

    def to_internal_value(self, data: Any) -> list[str]:
        if isinstance(data, (list, tuple)) and len(data) > mcp_settings.MAX_IDS:
            raise serializers.ValidationError(say_bound("MAX_IDS"), "max_length")
        ids: list[str] = super().to_internal_value(data)
        return ids


class RetrievalSerializer(serializers.Serializer[Any]):
    archive_id = serializers.CharField(required=False)
    content_hash = serializers.CharField(required=False)
    query = serializers.CharField(required=False, max_length=1000)
    ids = ItemIds(required=False)
    offset = serializers.IntegerField(min_value=0, default=0)
    limit = serializers.IntegerField(min_value=1, default=None)
    canonical = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named, digest = attrs.get("archive_id"), attrs.get("content_hash")
        if not named and not digest:
            message = "Name the content: archive_id or content_hash."
            raise serializers.ValidationError({"archive_id": [message]}, "required")
        if named and named.startswith(HASH_PREFIX):
            attrs |= {"archive_id": None, "content_hash": digest or named}
            if digest not in (None, "", named):
                raise NotFound(GONE)
        return attrs


class ContentRetrieveView(ServerToolView):
    """Gives archived items, in slices that fit a result.

    Every read asks whether the caller may be given the answer now.
    """

    def get(self, request: Request) -> Response:
        serializer = RetrievalSerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        asked, call = serializer.validated_data, find_call(request)
        entry = self._find_entry(request, call, asked)
        facts = {name: getattr(entry, name) for name in ("archive_id", "content_hash", "tool")}
        with _unavailable():
            return Response({**facts, **self._slice(facts, entry.items, call, asked)})

    def _find_entry(self, request: Request, call: CallState, asked: Mapping[str, Any]) -> Entry:
        digest, archive_id = asked.get("content_hash"), asked.get("archive_id")
        entry: Entry | None = None
        with _unavailable():
            archive = mcp_settings.ARCHIVE_CLASS()
            owner = archive.get_owner(request.user, call.caller.request)
            entry = archive.fetch(archive_id, owner) if archive_id else archive.find(digest, owner)
        if entry is None or (digest and digest != entry.content_hash):
            raise NotFound(GONE)
        urlconf = getattr(call.caller.request, "urlconf", None)
        tool = call.server.registry.tools(urlconf).get(entry.tool)
        if tool is None:
            raise NotFound(GONE)

        with catch() as caught:
            StoredAnswer.of(call.caller, tool, entry.terms).check(entry.terms)
            return entry
        exc = caught.exception
        # In the words for content that never existed.
        if isinstance(exc, REFUSALS) and getattr(exc, "status_code", 403) < 500:
            raise NotFound(GONE) from exc
        logger.warning("%s could not be asked again", tool.name, exc_info=exc)
        raise Unavailable from exc

    def _slice(
        self, facts: Mapping[str, Any], items: Any, call: CallState, asked: Mapping[str, Any]
    ) -> dict[str, Any]:
        measure = _make_measure(facts, call)
        limit = call.server.tools_capability.find_result_limit(call)
        room = None if limit is None else limit - min(RESERVE, limit // 5)
        slicer = Slicer(measure, room, asked["offset"], asked["limit"])
        if ids := asked.get("ids"):
            numbers, unknown = find_numbers(items, ids)
            if unknown:
                raise NotFound(f"Not among the archived items: {', '.join(unknown[:10])}.")
            items = [item for number, item in enumerate(items) if number in numbers]
        if query := asked.get("query"):
            if passages := PassageSearch(query).find(list(items)):
                return slicer.slice_passages(passages)
            call_context(self.request).suggest(
                "No item has a word of the query. Try other words, or read on without query."
            )
            return slicer.slice_passages([])
        digester_class = mcp_settings.DIGESTER_CLASS or LeadDigester
        return slicer.slice(items, digester_class().canonical if asked["canonical"] else None)


def _make_measure(facts: Mapping[str, Any], call: CallState) -> Any:
    """Return a function that returns the tokens of the result that has a slice."""
    capability, encode = call.server.tools_capability, AnswerEncoder().encode
    envelope = capability.get_envelope(call.tool)
    count_tokens = capability.make_budget(call.tool, call.context).count_tokens
    limit = capability.find_result_limit(call)

    def measure(part: Mapping[str, Any]) -> int:
        data = {**facts, **part}
        outcome = Outcome(call.tool.name, 200, data=data, request_id=call.request_id)
        text = "".join(envelope.texts(outcome, encode))
        least = -(-len(text) // CHARS_PER_TOKEN)
        return least if limit is not None and least > limit else max(least, count_tokens(text))

    return measure


@contextmanager
def _unavailable() -> Iterator[None]:
    with catch() as caught:
        yield
        return
    if isinstance(caught.exception, NotFound):
        raise caught.exception
    logger.warning("The archive could not be read", exc_info=caught.exception)
    raise Unavailable(UNREADABLE) from None


@dataclass(frozen=True, eq=False)
class RetrievalTool(ServerTool):
    @property
    def input_schema(self) -> dict[str, Any]:
        return _list_few(super().input_schema)


def _list_few(schema: Mapping[str, Any]) -> dict[str, Any]:
    # The tool is in every list. It takes others, and a hash in the place of an id.
    properties = schema["properties"].items()
    shown = {n: _list_few(s) if "properties" in s else s for n, s in properties if n not in RARE}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": shown, **required}


class RetrievalSource(ToolSource):
    """Gives each endpoint the tool that fetches what results had no room for."""

    def get_tools(self, tools: Mapping[str, Any]) -> Iterable[Any]:
        if tools and can_archive():
            about = {"title": "Fetch the rest of a result", "description": DESCRIPTION}
            yield RetrievalTool.make(RETRIEVAL_TOOL, ContentRetrieveView, query=PARAMETERS, **about)


class KeepsContent(Feature):
    tool_source = "drf_mcp.stored.retrieval.RetrievalSource"
