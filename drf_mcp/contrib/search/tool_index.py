"""What a caller can find of the tools: a page of hits, or the groups that there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from typing import Any

from drf_mcp.calls.summaries import Signature
from drf_mcp.contrib.search import READ, WRITE
from drf_mcp.contrib.search.ranking import FieldRanking, describe_for_search
from drf_mcp.contrib.search.vocabulary import split_words
from drf_mcp.dispatch.content import encode_data
from drf_mcp.exposure import Tool, Visibility
from drf_mcp.features import Caller, override_language

# Of one page: tools for a question, tools that the query names, groups.
MOST_HITS, MOST_NAMED, MOST_GROUPS = 5, 20, 300
# For each token of the budget: rows of JSON have about 2.5.
CHARACTERS_PER_TOKEN = 2
# Tokens of an answer that may have any length.
DEFAULT_LIMIT = 10_000
# How many optional arguments and names of an answer a signature has, and how many hits have them.
MOST_OPTIONAL, MOST_ANSWERED, MOST_SIGNED = 6, 6, 2
COMMON_ARGUMENTS = frozenset(
    {"page", "page_size", "limit", "offset", "cursor", "ordering", "fields"}
)
DESTRUCTIVE = "destructiveHint"
NAMES = re.compile(r"[\w*-]+")
CHOICES = re.compile(r" \([^()]*\)")
SENTENCE = re.compile(r".+?[.!?。](?=\s|$)", re.DOTALL)


def _rank_tools(tools: Mapping[str, Tool]) -> FieldRanking:
    """Return the ranking of some tools, which describes each of them."""
    # In the project's own language, not the first caller's.
    with override_language():
        own = {name: tool for name, tool in tools.items() if not tool.endpoint.is_built_in}
        return FieldRanking({name: describe_for_search(tool) for name, tool in own.items()})


class ToolIndex:
    """The tools that one caller can find, of those that the caller is offered.

    Permissions are asked for hits alone. All callers with the same tools share a ranking.
    """

    def __init__(
        self,
        registry: Any,
        tools: Mapping[str, Tool],
        caller: Caller,
        result_limit: int | None = None,
    ) -> None:
        self.registry = registry
        self.tools = tools
        self.caller = caller
        self.result_limit = result_limit

    @classmethod
    def rank(cls, registry: Any, tools: Mapping[str, Tool]) -> FieldRanking:
        ranking: FieldRanking = registry.keep("ranking", tools, _rank_tools)
        return ranking

    def search(self, query: str, offset: int = 0, definitions: bool = False) -> dict[str, Any]:
        """Return a page of hits: ``tools``, ``siblings`` of the first, ``next_offset`` for more.

        There are the ``groups`` as well, where no word of the query names the first hit.
        """
        words = NAMES.findall(query.lower().replace("-", "_"))
        read = [self._read("_".join(words))]
        if not any(read):
            read = [self._read(word) for word in words]
        if names := [name for found in read for name in found] if all(read) else []:
            is_sure, most = True, MOST_NAMED
        else:
            # Among other words, a name of one word may be an ordinary word.
            names = [name for word in words if "_" in word for name in self._read(word)]
            ranked, is_sure = self.rank(self.registry, self.tools).find(query)
            names, is_sure, most = [*names, *ranked], is_sure or bool(names), MOST_HITS
        seen = Visibility(self.caller)
        every = (self.tools[name] for name in dict.fromkeys(names))
        found = seen.find_first(every, offset + most + 1)[offset:]
        page = list(self.fit(found[:most], words, definitions))
        shown = {tool.name for tool in found[: len(page)]}
        near = seen.of(self.groups.get(find_noun(found[0]), ())) if found else ()
        more = offset + len(page) if len(found) > len(page) else None
        answer = {"tools": page, "next_offset": more}
        if siblings := [tool.name for tool in near if tool.name not in shown]:
            answer["siblings"] = siblings
        return answer if is_sure or offset else answer | {"groups": self.list_groups(0)["groups"]}

    def _read(self, word: str) -> list[str]:
        """Return the names of the tools that a word is a name, a noun or a pattern of."""
        if word in self.tools:
            return [word]
        if "*" in word:
            return [name for name in self.tools if fnmatchcase(name, word)]
        return [tool.name for tool in self.groups.get(word, ())]

    @cached_property
    def groups(self) -> Mapping[str, Sequence[Tool]]:
        return group_tools(self.tools.values())

    def fit(
        self, tools: Iterable[Tool], words: Sequence[str], definitions: bool
    ) -> Iterator[dict[str, Any]]:
        """Yield hits while there is room, at least one."""
        limit = DEFAULT_LIMIT if self.result_limit is None else self.result_limit
        room = CHARACTERS_PER_TOKEN * limit
        said = set(split_words(" ".join(words)))
        for place, tool in enumerate(tools):
            with override_language():
                is_named, text = tool.name in words, tool.description
                most = MOST_OPTIONAL if place < MOST_SIGNED else 0
                signature = Signature(tool) if is_named else ShortSignature(tool, said, most)
                hit = (
                    _define(tool)
                    if definitions
                    else {
                        "signature": signature.write(),
                        "run_with": READ if tool.reads else WRITE,
                        "description": text if is_named else cut_sentence(text),
                        **({"destructive": True} if tool.annotations[DESTRUCTIVE] else {}),
                    }
                )
            length = len(encode_data(hit))
            if place and length > room:
                return
            room -= length
            yield hit

    def list_groups(self, offset: int) -> dict[str, Any]:
        """Return what there is: ``total``, and a page of ``groups`` with their counts."""
        # The tools that `tools/list` would show if it showed every tool.
        seen = Visibility(self.caller).of(self.tools.values())
        groups = {noun: len(tools) for noun, tools in group_tools(seen).items()}
        page = dict(islice(groups.items(), offset, offset + MOST_GROUPS))
        following = offset + len(page)
        return {
            "total": len(seen),
            "groups": page,
            "next_offset": following if following < len(groups) else None,
        }


def group_tools(tools: Iterable[Tool]) -> Mapping[str, Sequence[Tool]]:
    """Return the tools of each noun, those that read first and those that may destroy last."""
    groups: dict[str, list[Tool]] = {}
    for tool in sorted(tools, key=lambda each: (not each.reads, each.annotations[DESTRUCTIVE])):
        if not tool.endpoint.is_built_in:
            groups.setdefault(find_noun(tool), []).append(tool)
    return groups


def find_noun(tool: Tool) -> str:
    return tool.name.removesuffix(f"_{tool.endpoint.standard_action}")


# --- Hits -----------------------------------------------------------------------------------


def _define(tool: Tool) -> dict[str, Any]:
    tool.renew()
    return {
        "name": tool.name,
        "run_with": READ if tool.reads else WRITE,
        "description": tool.description,
        "annotations": {hint: True for hint, is_so in tool.annotations.items() if is_so},
        "inputSchema": tool.input_schema,
    }


class ShortSignature(Signature):
    """The signature of a hit: a few of many optional arguments, and names of what is answered.

    Args:
        tool: a `Tool`.
        words: the words of a query; the arguments that they name are never left out.
        most: so many optional arguments.
    """

    def __init__(self, tool: Any, words: set[str], most: int) -> None:
        super().__init__(tool)
        self.words = words
        self.most = most

    def write(self) -> str:
        text = super().write().removesuffix(f" -> {self.unknown}")
        # JSON has two characters for each quotation mark.
        return text if "'" in text else text.replace('"', "'")

    def get_arguments(self) -> str:
        schema = self.tool.input_schema
        every: Mapping[str, Any] = schema.get("properties", {})
        needed = [name for name in every if name in schema.get("required", ())]
        optional = [name for name in every if name not in needed]
        named = [n for n in optional if self.words.issuperset(split_words(n) or [""])]
        # Most tools have the same ones for pages, fields and safety.
        common = COMMON_ARGUMENTS | {*named}
        common |= {control.name for control in self.tool.controls}
        own = [name for name in optional if name not in common]
        shown = [*named, *own[: max(self.most - len(named), 0)]]
        ends = {**dict.fromkeys(needed, ""), **dict.fromkeys(shown, " = None")}
        texts = [
            f"{self.name_argument(name)}: {self.write_argument(name, every[name])}{end}"
            for name, end in ends.items()
        ]
        return ", ".join(texts if len(texts) == len(every) else [*texts, "..."])

    def make_answer(self) -> str:
        output = self.find_output()
        rows = output.get("items") if isinstance(output, Mapping) else None
        row = rows if isinstance(rows, Mapping) else output
        members = list(row.get("properties", ())) if isinstance(row, Mapping) else []
        if not members or not self.most:
            return self.unknown
        more = ["..."] if len(members) > MOST_ANSWERED else []
        text = ", ".join([*members[:MOST_ANSWERED], *more])
        return f"[{{{text}}}]" if row is rows else f"{{{text}}}"


def cut_sentence(text: str) -> str:
    """Return the first sentence of a text, without what it has in brackets."""
    found = SENTENCE.match(text)
    return CHOICES.sub("", found[0] if found else text)
