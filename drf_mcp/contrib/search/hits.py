"""What a search answers of the tools that it finds: signatures, or definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.contrib.search.views import READ, WRITE
from drf_mcp.contrib.search.words import split_words
from drf_mcp.dispatch.content import encode_data
from drf_mcp.option_types.spelling import PAGING_NAMES
from drf_mcp.settings import override_language
from drf_mcp.tools.arguments.fields import FIELDS
from drf_mcp.tools.summaries import UNKNOWN, Signature, write_type
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import count_tokens
from drf_mcp.truncation.tokens import is_within

# Of a signature: the optional arguments, and the names of what a tool answers.
MOST_OPTIONAL, MOST_ANSWERED = 6, 6
COMMON_ARGUMENTS = ("page_size", "ordering", FIELDS)
# Hits that have them.
MOST_SIGNED = 2
# Tokens of the schemas of a page, and of the first hit's, which comes whole up to here.
SCHEMA_TOKENS, LONGEST_SCHEMA = 1500, 4000
# Of a page of hits, for each token of the budget: rows of JSON have about 2.5.
CHARACTERS_PER_TOKEN = 2
CHOICES = re.compile(r" \([^()]*\)")
SENTENCE = re.compile(r".+?[.!?。](?=\s|$)", re.DOTALL)


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

    def write(self, name: str = "") -> str:
        text = super().write(name).removesuffix(f" -> {UNKNOWN}")
        # JSON has two characters for each quotation mark.
        return text if "'" in text else text.replace('"', "'")

    def get_arguments(self) -> str:
        schema = self.tool.input_schema
        every: Mapping[str, Any] = schema.get("properties", {})
        required = schema.get("required", ())
        needed = [name for name in every if name in required]
        named = [name for name in every if name not in required and mentions(self.words, name)]
        # Most tools have the same ones for pages, fields and safety.
        common = {
            *COMMON_ARGUMENTS,
            *(control.name for control in self.tool.controls),
            *needed,
            *named,
        }
        own = [name for name in every if name not in common and name not in PAGING_NAMES]
        shown = [*named, *own[: max(self.most - len(named), 0)]]
        texts = [f"{name}: {write_type(every[name])}" for name in needed]
        texts += [f"{name}: {write_type(every[name])} = None" for name in shown]
        return ", ".join(texts if len(texts) == len(every) else [*texts, "..."])

    def get_answer(self) -> str:
        output = self.find_output()
        rows = output.get("items") if isinstance(output, Mapping) else None
        row = rows if isinstance(rows, Mapping) else output
        members = list(row.get("properties", ())) if isinstance(row, Mapping) else []
        if not members or not self.most:
            return UNKNOWN
        more = ["..."] if len(members) > MOST_ANSWERED else []
        text = ", ".join([*members[:MOST_ANSWERED], *more])
        return f"[{{{text}}}]" if row is rows else f"{{{text}}}"


class Hits:
    """What a search answers of tools, as much as there is room for.

    Args:
        query: what was asked.
        named: the names of tools that the query consists of.
        room: characters of the answer.
        whole: whether definitions are answered in place of signatures.
    """

    def __init__(self, query: str, named: Sequence[str], room: int, whole: bool) -> None:
        self.words = set(split_words(query))
        self.named = named
        self.room = room
        self.whole = whole
        # Half of a small room is left for names and descriptions.
        self.budget = min(SCHEMA_TOKENS, room // (2 * CHARACTERS_PER_TOKEN))

    def fit(self, tools: Iterable[Tool]) -> Iterator[dict[str, Any]]:
        """Yield hits while there is room, at least one."""
        room = self.room
        for place, tool in enumerate(tools):
            hit = self.define(tool, place) if self.whole else self.sign(tool, place)
            length = len(encode_data(hit))
            if place and length > room:
                return
            room -= length
            yield hit

    def sign(self, tool: Tool, place: int) -> dict[str, Any]:
        """Return a hit with the signature of the tool; all of it where the query is its name."""
        is_named = tool.name in self.named
        short = ShortSignature(tool, self.words, MOST_OPTIONAL if place < MOST_SIGNED else 0)
        signature = Signature(tool) if is_named else short
        with override_language():
            hit = {
                "signature": signature.write(),
                "run_with": READ if tool.reads else WRITE,
                "description": tool.description if is_named else cut_sentence(tool.description),
            }
        return hit | ({"destructive": True} if tool.annotations["destructiveHint"] else {})

    def define(self, tool: Tool, place: int) -> dict[str, Any]:
        """Return a hit with the definition of the tool, its schema where that fits."""
        with override_language():
            hit = {
                "name": tool.name,
                "run_with": READ if tool.reads else WRITE,
                "description": tool.description,
                "annotations": {hint: True for hint, is_so in tool.annotations.items() if is_so},
            }
        if tool.name in self.named:
            return hit | {"inputSchema": tool.input_schema}
        arguments = self.define_arguments(tool, None if place else self.words)
        self.budget -= count_tokens(encode_data(arguments))
        return hit | arguments

    def define_arguments(self, tool: Tool, words: set[str] | None) -> dict[str, Any]:
        """Return the schema of a hit where it fits; of the best hit at least the names in it.

        Args:
            words: of the query, for the best hit: arguments that they name keep their schemas.
        """
        schema = tool.input_schema
        if is_within(encode_data(schema), self.budget if words is None else LONGEST_SCHEMA):
            return {"inputSchema": schema}
        if words is None:
            return {}
        every, chosen = schema.get("properties", {}), set(schema.get("required", ()))
        chosen |= {name for name in every if mentions(words, name)}
        return {
            "arguments": {name: every[name] for name in every if name in chosen},
            "other_arguments": [name for name in every if name not in chosen],
        }


def mentions(words: set[str], argument: str) -> bool:
    """Return whether words have each word of an argument's name."""
    return words.issuperset(split_words(argument) or [""])


def cut_sentence(text: str) -> str:
    """Return the first sentence of a text, without what it has in brackets."""
    found = SENTENCE.match(text)
    return CHOICES.sub("", found[0] if found else text)
