"""What a caller can find of the tools: a page of hits, or the groups that there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.access.authentication import Caller
from drf_mcp.contrib.search.ranking import FieldRanking, split_words
from drf_mcp.contrib.search.views import READ, WRITE
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.settings import mcp_settings, override_language
from drf_mcp.tools.instructions import Instructions
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import RETRIEVAL_TOOL, count_tokens
from drf_mcp.truncation.tokens import is_within

# Of one page, and those of them with their schema.
MOST_HITS, MOST_SCHEMAS = 10, 3
# Tokens of the schemas of a page, and of the first hit's, which comes whole up to here.
SCHEMA_TOKENS, LONGEST_SCHEMA = 1500, 4000
MOST_GROUPS = 300
# Of a page of hits, for each token of the budget: rows of JSON have about 2.5.
CHARACTERS_PER_TOKEN = 2
NAMES = re.compile(r"[\w-]+")


def rank_tools(tools: Mapping[str, Tool]) -> FieldRanking:
    """Return the ranking of some tools, which describes each of them."""
    # In the project's own language, whoever happens to ask first.
    with override_language():
        return FieldRanking(
            {
                name: {
                    "name": name,
                    "title": tool.title,
                    "description": tool.description,
                    "inputSchema": tool.input_schema,
                }
                for name, tool in tools.items()
            }
        )


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
            names |= dict.fromkeys(self.rank(self.registry, self.tools).find(query))
        return Visibility(self.caller).find_first((self.tools[name] for name in names), most)

    def find_named(self, query: str) -> list[str]:
        """Return the names of tools that a query consists of; none if it has other words."""
        words = NAMES.findall(query)
        # A name of one word, in company, may be meant as that word, or as an argument.
        is_named = all(word in self.tools and ("_" in word or words == [word]) for word in words)
        return words if is_named else []

    def search(self, query: str, offset: int) -> dict[str, Any]:
        """Return a page of hits: ``tools``, and ``next_offset`` where there are more."""
        found = self.find(query, offset + MOST_HITS + 1)[offset:]
        hits = list(self.fit(found[:MOST_HITS], query))
        more = len(found) > len(hits)
        return {"tools": hits, "next_offset": offset + len(hits) if more else None}

    def fit(self, tools: Iterable[Tool], query: str) -> Iterator[dict[str, Any]]:
        """Yield hits while there is room; for names of tools alone, with their whole schemas."""
        room, named, words = self.room, self.find_named(query), set(split_words(query))
        # Half of a small room is left for names and descriptions.
        budget = min(SCHEMA_TOKENS, room // (2 * CHARACTERS_PER_TOKEN))
        for place, tool in enumerate(tools):
            hit = self.describe(tool)
            if tool.name in named:
                hit["inputSchema"] = tool.input_schema
            elif place < MOST_SCHEMAS:
                arguments = self.describe_arguments(tool, budget, None if place else words)
                budget -= count_tokens(encode_data(arguments))
                hit |= arguments
            length = len(encode_data(hit))
            if place and length > room:
                return
            room -= length
            yield hit

    def describe_arguments(self, tool: Tool, budget: int, words: set[str] | None) -> dict[str, Any]:
        """Return the schema of a hit where it fits; of the best hit at least the names in it.

        Args:
            words: of the query, for the best hit: arguments that they name keep their schemas.
        """
        schema = tool.input_schema
        if is_within(encode_data(schema), budget if words is None else LONGEST_SCHEMA):
            return {"inputSchema": schema}
        if words is None:
            return {}
        every, chosen = schema.get("properties", {}), set(schema.get("required", ()))
        chosen |= {name for name in every if words.issuperset(split_words(name) or [""])}
        return {
            "arguments": {name: every[name] for name in every if name in chosen},
            "other_arguments": [name for name in every if name not in chosen],
        }

    @property
    def room(self) -> int:
        limits = (self.client_limit, mcp_settings.MAX_RESULT_TOKENS)
        known = [limit for limit in limits if limit is not None]
        return CHARACTERS_PER_TOKEN * min(known, default=10_000)

    def describe(self, tool: Tool) -> dict[str, Any]:
        """Return a hit without its schema: name, what runs the tool, description and hints."""
        with override_language():
            return {
                "name": tool.name,
                "run_with": READ if tool.reads else WRITE,
                "description": tool.description,
                "annotations": {hint: True for hint, is_so in tool.annotations.items() if is_so},
            }

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
