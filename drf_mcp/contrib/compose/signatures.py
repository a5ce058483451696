"""How a program calls tools, by signatures with comments, and reads their lists whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from drf_mcp.calls.summaries import Signature
from drf_mcp.outcomes import PAGE_MEMBERS, Outcome

ONE_PAGE = "PAGE_SIZE_LIMITED"
# `ListReader.say_part` says it for a program.
MORE_ROWS = "MORE_ROWS"
# The rows of a page where the paginator has no largest size.
MOST_ROWS = 500
SIZES = ("page_size_query_param", "limit_query_param")
# The attributes of paginators that name the parameter which chooses a page.
PLACES = ("page_query_param", "offset_query_param", "cursor_query_param")


class ListReader:
    """Reads the list of a tool, whose paginator has parameters for the place and for the size."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        endpoint = tool.endpoint
        own = getattr(endpoint.view_class, "pagination_class", None)
        self.paginator = endpoint.route.initkwargs.get("pagination_class", own)
        names = ("page_size", "default_limit")
        sizes = (getattr(self.paginator, name, None) for name in names)
        self.size = next((each for each in sizes if isinstance(each, int)), 0)
        limits = (getattr(self.paginator, each, None) for each in ("max_page_size", "max_limit"))
        self.largest = max(next(filter(None, limits), MOST_ROWS), self.size)

    def _find_sent(self, names: Sequence[str], arguments: Mapping[str, Any]) -> list[str]:
        """Return the arguments of some parameters of the paginator that a call sends."""
        if self.paginator is None:
            return []
        parameters = {getattr(self.paginator, name, None) for name in names}
        sent = self.tool.arguments.find_values(arguments)
        return [argument.name for argument, _v in sent if argument.parameter.name in parameters]

    def chooses_page(self, arguments: Mapping[str, Any]) -> bool:
        return bool(self._find_sent(PLACES, arguments))

    def enlarge(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with the largest size of a page, unless they choose a page."""
        names = (getattr(self.paginator, each, None) for each in SIZES)
        name = next(filter(None, names), None)
        is_paged = self.size or self._find_sent(SIZES, arguments)
        if name is None or not is_paged or self.chooses_page(arguments):
            return arguments
        return self.tool.arguments.replace_query(arguments, {name: str(self.largest)}) or arguments

    def read(self, outcome: Outcome) -> tuple[Any, Mapping[str, Any] | None, str]:
        """Return the rows, the arguments of the next page, and a warning if none are known.

        A page with members of its own stays an object with its rows in "results".
        """
        data, page = outcome.data, outcome.pagination
        if outcome.is_page and isinstance(data, Mapping) and "results" in data:
            assert page is not None
            rest = {name: value for name, value in data.items() if name not in PAGE_MEMBERS}
            lacks = page.has_more and page.next is None
            value = rest["results"] if rest.keys() == {"results"} else rest
            return value, page.next, self._say_part() if lacks else ""
        following = None if page is None else page.next
        if page is not None and page.has_more is not None:
            may_be_part = page.has_more and (following is None or find_rows(data) is None)
        else:
            may_be_part = self._may_be_part(data)
        return data, None if may_be_part else following, self._say_part() if may_be_part else ""

    def _may_be_part(self, data: Any) -> bool:
        """Return whether rows, in a form that is no page of REST framework, fill a page."""
        if self.paginator is None or self.tool.endpoint.standard_action != "list":
            return False
        members = data.values() if isinstance(data, Mapping) else [data]
        lengths = [len(each) for each in members if isinstance(each, (list, tuple))]
        return max(lengths, default=0) in {self.size, self.largest} - {0}

    def join(self, parts: Sequence[Any]) -> Any:
        """Return all rows of several pages."""
        first, name = parts[0], find_rows(parts[0])
        if isinstance(first, Mapping):
            return {**first, name: [row for part in parts for row in part[name]]}
        return [row for part in parts for row in part]

    def _say_part(self) -> str:
        name = self.tool.name
        return f"{name} gave the rows of one page, and there may be more: they have no argument."

    def say_page(self, arguments: Mapping[str, Any]) -> str:
        names = " and ".join(f"'{name}'" for name in self._find_sent(PLACES, arguments))
        return f"{self.tool.name} gave one page of its rows. It gives all of them without {names}."


def find_rows(data: Any) -> str | None:
    """Return the member of a page that has its rows, "" where the page is a list, else None."""
    if not isinstance(data, Mapping):
        return "" if isinstance(data, (list, tuple)) else None
    names = [str(name) for name, value in data.items() if isinstance(value, (list, tuple))]
    return "results" if "results" in names else names[0] if len(names) == 1 else None


BOUNDS = {"minimum": ">= ", "maximum": "<= ", "minItems": "at least "}
CHOICES = re.compile(r"\^(-\?)?\(([\w|]+)\)\$")
# What every reading tool takes, which no program needs to read for each.
FIELDS = "fields"
# Shorter shapes of answers are not named, and longer texts end with what else there is.
MIN_SHAPE, MAX_TEXT = 30, 20_000
# In how many tools a comment has to be, to be said once.
COMMON = 3


class FunctionSignature(Signature):
    """The signature of a tool's function, which a program can follow as it stands."""

    def find_arguments(self) -> dict[str, Any]:
        # A list is whole without pages.
        rows = ListReader(self.tool)
        paging = {getattr(rows.paginator, name, None) for name in (*PLACES, *SIZES)}
        known = self.tool.arguments.arguments if rows.paginator is not None else ()
        left_out = {each.name for each in known if each.parameter.name in paging}
        found = super().find_arguments()
        return {name: each for name, each in found.items() if name not in left_out}

    def write_argument(self, name: str, schema: Any) -> str:
        items = schema.get("items", {}) if isinstance(schema, Mapping) else {}
        if name == FIELDS and items.get("type") == "string":
            return "[str]"
        if choices := CHOICES.fullmatch(str(items.get("pattern", ""))):
            names = " | ".join(f'"{each}"' for each in choices[2].split("|"))
            return f"[{names}]"
        return super().write_argument(name, schema)

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
