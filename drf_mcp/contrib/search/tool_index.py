"""What a caller can find of the tools: a page of hits, or the groups that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import translation

from drf_mcp.access.authentication import Caller
from drf_mcp.contrib.search.hits import CHARACTERS_PER_TOKEN, Hits
from drf_mcp.contrib.search.ranking import FieldRanking
from drf_mcp.contrib.search.tool_words import ToolWords
from drf_mcp.contrib.search.words import SearchLanguage, get_language
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.json_text import to_bytes
from drf_mcp.settings import mcp_settings, override_language
from drf_mcp.tools.kept_descriptions import kept_descriptions
from drf_mcp.tools.summaries import Instructions
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import RETRIEVAL_TOOL

# Of one page.
MOST_HITS, MOST_GROUPS = 5, 300
NAMES = re.compile(r"[\w-]+")


def rank_tools(tools: Mapping[str, Tool]) -> FieldRanking:
    """Return the ranking of some tools, which describes each of them."""
    # In the project's own language, not in that of the first caller.
    with override_language():
        language = get_language(translation.get_language() or "en")
        return FieldRanking(
            {name: describe_words(tool, language) for name, tool in tools.items()}, language
        )


def describe_words(tool: Tool, language: SearchLanguage) -> dict[str, Any]:
    def describe() -> bytes:
        return to_bytes(encode_data(ToolWords(tool, language).describe()))

    is_new = "view" not in vars(tool)
    text = kept_descriptions.get(tool, ("search", language.code), describe)
    if is_new:
        tool.forget()
    described: dict[str, Any] = json.loads(text)
    return described


class ToolIndex:
    """The tools that one caller can find.

    Args:
        registry: keeps the ranking, which all callers with the same tools share.
        tools: those that the caller is offered, by name; permissions are asked for hits alone.
        caller: who searches.

    Attributes:
        client_limit: the most tokens of an answer that the client asks for.
    """

    def __init__(self, registry: Any, tools: Mapping[str, Tool], caller: Caller) -> None:
        self.registry = registry
        self.tools = tools
        self.caller = caller
        self.client_limit: int | None = None

    @property
    def seen(self) -> Sequence[Tool]:
        """The tools that ``tools/list`` would show if it showed every tool."""
        return Visibility(self.caller, remembers=True).of(self.tools.values())

    @classmethod
    def rank(cls, registry: Any, tools: Mapping[str, Tool]) -> FieldRanking:
        """Return the ranking of some tools, made by the first who asks for it."""
        ranking: FieldRanking = registry.keep("ranking", tools, rank_tools)
        return ranking

    def find(self, query: str, most: int) -> list[Tool]:
        """Return the tools that a query is about, those that it names first, then the best."""
        names = dict.fromkeys(word for word in NAMES.findall(query) if word in self.tools)
        if not self.find_named(query) or "_" not in query:
            ranked = self.rank(self.registry, self.tools).find(query)
            names |= dict.fromkeys(n for n in ranked if not self.tools[n].endpoint.is_built_in)
        return Visibility(self.caller).find_first((self.tools[name] for name in names), most)

    def find_named(self, query: str) -> list[str]:
        """Return the names of tools that a query consists of; none if it has other words."""
        words = NAMES.findall(query)
        # A name of one word, in company, may be that word, or as an argument.
        is_named = all(word in self.tools and ("_" in word or words == [word]) for word in words)
        return words if is_named else []

    def search(self, query: str, offset: int = 0, definitions: bool = False) -> dict[str, Any]:
        """Return a page of hits: ``tools``, and ``next_offset`` where there are more."""
        found = self.find(query, offset + MOST_HITS + 1)[offset:]
        is_near = not found and not offset
        found = self.find_near(query) if is_near else found
        hits = Hits(query, self.find_named(query), self.room, definitions)
        page = list(hits.fit(found[:MOST_HITS]))
        more = len(found) > len(page)
        answer = {"tools": page, "next_offset": offset + len(page) if more else None}
        return answer | ({"groups": self.list_groups(0)["groups"]} if is_near else {})

    def find_near(self, query: str) -> list[Tool]:
        """Return a few tools for a query that has no word of any tool."""
        near = self.rank(self.registry, self.tools).find_near(query)
        # Those that read show at least what there is; a name that no tool has may be in a row.
        reading = [name for name, tool in self.tools.items() if tool.reads]
        searching = [
            n for n in reading if any(p.role == "search" for p in self.tools[n].schema.query)
        ]
        names = dict.fromkeys([*near, *searching, *reading, *self.tools])
        return Visibility(self.caller).find_first((self.tools[n] for n in names), MOST_HITS)

    @property
    def room(self) -> int:
        limits = (self.client_limit, mcp_settings.MAX_RESULT_TOKENS)
        known = [limit for limit in limits if limit is not None]
        return CHARACTERS_PER_TOKEN * min(known, default=10_000)

    def list_groups(self, offset: int) -> dict[str, Any]:
        """Return what there is: ``total``, and a page of ``groups`` with their counts."""
        seen = self.seen
        groups = Instructions(seen, RETRIEVAL_TOOL).groups
        page = list(groups.items())[offset : offset + MOST_GROUPS]
        following = offset + len(page)
        return {
            "total": len(seen),
            "groups": {noun: len(actions) or 1 for noun, actions in page},
            "next_offset": following if following < len(groups) else None,
        }
