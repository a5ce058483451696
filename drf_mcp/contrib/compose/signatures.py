"""How a program calls tools: signatures with comments, and shapes of several answers once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from drf_mcp.calls.summaries import Signature
from drf_mcp.contrib.compose.lists import PLACES, SIZES, ListReader

BOUNDS = {"minimum": ">= ", "maximum": "<= ", "minItems": "at least "}
CHOICES = re.compile(r"\^(-\?)?\(([\w|]+)\)\$")
# What every reading tool takes, and no program needs to be told of each.
FIELDS = "fields"
# Shorter shapes of answers are not named, and longer texts end with what else there is.
MIN_SHAPE, MAX_TEXT = 30, 20_000
# In how many tools a comment stands, to be said once.
COMMON = 3


class FunctionSignature(Signature):
    """The signature of a tool's function, which a program can follow as it stands."""

    def find_arguments(self) -> dict[str, Any]:
        """Return the schemas of the arguments that are shown: a list is whole without pages."""
        rows = ListReader(self.tool)
        paging = {getattr(rows.paginator, name, None) for name in (*PLACES, *SIZES)}
        known = self.tool.arguments.arguments if rows.paginator is not None else ()
        left_out = {each.name for each in known if each.parameter.name in paging}
        properties: Mapping[str, Any] = self.tool.known_schema.get("properties", {})
        return {name: each for name, each in properties.items() if name not in left_out}

    def get_arguments(self) -> str:
        required = self.tool.known_schema.get("required", ())
        found = self.find_arguments()
        return ", ".join(
            f"{self.name_argument(name)}: {self.write_argument(name, found[name])}"
            f"{'' if name in required else ' = None'}"
            for name in sorted(found, key=lambda each: each not in required)
        )

    def write_argument(self, name: str, schema: Any) -> str:
        items = schema.get("items", {}) if isinstance(schema, Mapping) else {}
        if name == FIELDS and items.get("type") == "string":
            return "[str]"
        if choices := CHOICES.fullmatch(str(items.get("pattern", ""))):
            names = " | ".join(f'"{each}"' for each in choices[2].split("|"))
            return f"[{names}]"
        return self.write_type(schema)

    def find_comments(self) -> list[str]:
        """Return what else a call has to know of its arguments."""
        return [
            f"{self.name_argument(name)}: {text}"
            for name, schema in self.find_arguments().items()
            if name != FIELDS and (text := "; ".join(_find_rules(schema)))
        ]


def _find_rules(schema: Any) -> Iterator[str]:
    if text := schema.get("description", ""):
        yield re.split(r"(?<=\w)\. |\.$", text)[0]
    yield from (f"{sign}{schema[name]}" for name, sign in BOUNDS.items() if name in schema)
    items = schema.get("items", {})
    if (choices := CHOICES.fullmatch(str(items.get("pattern", "")))) and choices[1]:
        yield "with - before: descending"
    for name, member in items.get("properties", {}).items():
        if texts := "; ".join(_find_rules(member)):
            yield f"{name}: {texts}"


def write_signatures(
    patterns: Sequence[str], tools: Mapping[str, Any], nouns: Sequence[str]
) -> str:
    """Return the lines of the tools that a pattern names; of all, without comments.

    Args:
        tools: the tools that the caller sees, by the names of their functions.
        nouns: what there is, for a pattern that names nothing.
    """
    chosen = {
        name: FunctionSignature(tool)
        for name, tool in tools.items()
        if not patterns or any(fnmatchcase(name, each) for each in patterns)
    }
    answers = {name: each.make_answer() for name, each in chosen.items()}
    shapes = Counter(answer.strip("[]") for answer in answers.values())
    names: dict[str, str] = {}
    for name, answer in answers.items():
        shape = answer.strip("[]")
        if shapes[shape] > 1 and len(shape) > MIN_SHAPE and shape not in names:
            noun = name.removesuffix(f"_{chosen[name].tool.endpoint.standard_action}")
            title = noun.title().replace("_", "").removesuffix("s")
            names[shape] = title + "_" * list(names.values()).count(title)
    lines = [f"{title} = {shape}" for shape, title in names.items()]
    comments = {name: each.find_comments() if patterns else [] for name, each in chosen.items()}
    counts = Counter(text for texts in comments.values() for text in texts)
    lines += [f"# {text}" for text, count in counts.items() if count >= COMMON]
    for name, signature in chosen.items():
        shape = answers[name].strip("[]")
        answer = answers[name].replace(shape, names.get(shape, shape))
        comment = ". ".join(each for each in comments[name] if counts[each] < COMMON)
        text = f"{name}({signature.get_arguments()}) -> {answer}"
        lines.append(f"{text}  # {comment}" if comment else text)
    lines += [
        f"# No tool fits {each!r}. There are {', '.join(nouns)}."
        for each in patterns
        if not any(fnmatchcase(name, each) for name in chosen)
    ]
    return "\n".join(_cut_lines(lines, nouns))


def _cut_lines(lines: Sequence[str], nouns: Sequence[str]) -> Iterator[str]:
    room = MAX_TEXT
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            rest = len(lines) - number
            yield f"# {rest} more: signatures('NOUN_*') with one of {', '.join(nouns)}."
            return
        yield line
