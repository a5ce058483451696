"""Corrects refused calls, like an agent that knows the error and the list, and nothing else."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from jsonschema import Draft202012Validator

from benchmarks.agents.generation import read_choices
from benchmarks.agents.projects import get_at
from drf_mcp.test import ToolProblem, ToolResult

# Choices and names below these similarities are no misspelling of each other.
ALIKE, ALIKE_NAMES = 0.5, 0.6
# A retry of the same call is pointless, unless the error names an argument.
FINAL = frozenset({"authorization", "authentication", "conflict"})
# A choice and its label: "3 = High", or drf-spectacular's "`3` - High".
LABEL = re.compile(r"`?([\w-]+)`? (?:=|(?<=` )-) ([^,.;\n]+)")
NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
DATES = ("%d.%m.%Y", "%B %d, %Y", "%Y/%m/%d", "%d/%m/%Y", "%Y-%m-%d")
DID_YOU_MEAN = re.compile(r"[Dd]id you mean '([^']+)'")
YES_AND_NO = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True)
class Step:
    """What the agent does after an error.

    Attributes:
        arguments: the arguments to retry with, None for no retry.
        tools: the other tools that the error leads to.
    """

    arguments: dict[str, Any] | None = None
    tools: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TextAnswer:
    """The text of an answer without an envelope, such as its warnings.

    Attributes:
        text: the text.
        problems: always empty, since a text has no pointers.
        envelope: always None.
    """

    text: str
    problems: tuple[ToolProblem, ...] = ()
    envelope: None = None


class Repair:
    """Corrects one refused call.

    Args:
        tools: the list.
        tool: the tool that was called.
        arguments: its arguments.
        result: the refusal, or the text of the warnings of an answer.
        knows: what the user said, by argument: used for an argument that the error names.
    """

    def __init__(
        self,
        tools: Mapping[str, Any],
        tool: str,
        arguments: Mapping[str, Any],
        result: ToolResult | TextAnswer,
        knows: Mapping[str, Any],
    ) -> None:
        self.tools = tools
        self.tool = tool
        self.schema = tools[tool]["inputSchema"]
        self.arguments: Any = copy.deepcopy(dict(arguments))
        self.result = result
        self.knows = knows

    def find_step(self) -> Step:
        """Return the agent's next step."""
        before = copy.deepcopy(self.arguments)
        others = self.find_tools()
        # Of several problems with one argument, the first is the most useful.
        problems = {problem.pointer: problem for problem in reversed(self.result.problems)}
        for problem in problems.values():
            self.correct(problem, bool(others))
        if not problems and not others and self.error_type not in FINAL:
            self.use_known_values()
        changed = self.arguments != before
        return Step(self.arguments if changed else None, frozenset(others))

    @property
    def error_type(self) -> Any:
        return get_at(self.result.envelope, "data.error_type")

    def find_tools(self) -> set[str]:
        """Return the other tools that the error names, or whose action it names as a verb."""
        words = set(re.findall(r"\w+", self.result.text))
        verbs = {word.lower() for word in words}
        group = self.tool.rpartition("_")[0]
        actions = {f"{group}_{verb}" for verb in verbs} if self.error_type in FINAL else set()
        return ((words | actions) & set(self.tools)) - {self.tool}

    def use_known_values(self) -> None:
        # An error without a pointer names the argument in its text, if at all.
        for name in self.knows:
            if name in self.arguments and re.search(rf"\b{re.escape(name)}\b", self.result.text):
                self.arguments[name] = self.knows[name]

    def correct(self, problem: ToolProblem, others: bool) -> None:
        """Change the value that a problem points at, if error and schema say how."""
        place = [int(s) if s.isdigit() else s for s in problem.pointer.split("/")[1:]]
        # An item of a list is corrected together with its list.
        while place and isinstance(place[-1], int):
            place.pop()
        parent = self.get_parent(place)
        if not place or not isinstance(parent, dict):
            return
        schema, properties = self.get_schemas(place)
        unknown = [name for name in parent if name not in properties]
        if place[-1] in parent and place[-1] not in properties:
            self.rename(parent, place[-1], properties, problem)
        elif place[-1] in self.knows:
            # The user's values for one object go together.
            known = {k: v for k, v in self.knows.items() if k in parent or k == place[-1]}
            parent.update(known)
        elif place[-1] in parent:
            self.replace(parent, place[-1], schema, problem, others)
        elif place[-1] not in properties:
            # One name for both ends of a range.
            for name in [each for each in parent if each.startswith(f"{place[-1]}_")]:
                self.replace(parent, name, properties.get(name, {}), problem, others)
        elif len(unknown) == 1:
            # A missing argument was sent under a name that the schema does not have.
            self.rename(parent, unknown[0], properties, problem)

    def get_parent(self, place: list[Any]) -> Any:
        value = self.arguments
        for step in place[:-1]:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return None
        return value if isinstance(value, (dict, list)) else None

    def get_schemas(self, place: list[Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the schema at a pointer, and the properties of the object around it."""
        schema, properties = self.schema, {}
        for step in place:
            properties = schema.get("properties", {})
            schema = schema.get("items", {}) if isinstance(step, int) else properties.get(step, {})
        return schema, properties

    def rename(
        self, parent: dict[str, Any], name: str, properties: Mapping[str, Any], problem: Any
    ) -> None:
        """Rename an unknown argument to the intended one, or drop it."""
        value = parent.pop(name)
        known = [each for each in self.knows if each in properties and each not in parent]
        free = [each for each in properties if each not in parent]
        missing = [each for each in self.schema.get("required", ()) if each not in self.arguments]
        if known:
            parent.update({each: self.knows[each] for each in known})
        elif free:
            best = max(free, key=lambda each: self.compare(name, each))
            if self.compare(name, best) >= ALIKE_NAMES:
                parent[best] = value
            elif len(missing) == 1:
                parent[missing[0]] = value

    def compare(self, name: str, other: str) -> float:
        parts = re.split("_+", name), re.split("_+", other)
        if name in parts[1] or other in parts[0] or name in other.split("__"):
            return 1.0
        return SequenceMatcher(None, name, other).ratio()

    def replace(
        self, parent: Any, key: Any, schema: Mapping[str, Any], problem: ToolProblem, others: bool
    ) -> None:
        """Replace the refused value with the most similar one that would be accepted."""
        value = parent[key]
        hints = " ".join([problem.message, problem.accepted or "", problem.remediation])
        hints = f"{hints} {schema.get('description', '')} {schema.get('pattern', '')}"
        validator = Draft202012Validator(dict(schema))
        for candidate in self.make_candidates(value, schema, hints, others):
            if candidate != value and validator.is_valid(candidate):
                parent[key] = candidate
                return

    def make_candidates(
        self, value: Any, schema: Mapping[str, Any], hints: str, others: bool
    ) -> Iterator[Any]:
        items = schema.get("items", {})
        choices = read_choices(schema) or read_choices(items) or self.read_choices(hints)
        labels = f"{hints} {items.get('description', '')}"
        values = value if isinstance(value, list) else [value]
        if suggested := DID_YOU_MEAN.search(hints):
            yield suggested[1]
        if isinstance(value, str) and schema.get("type") == "array":
            values = value.split(",")
            yield self.parse(value)
        if choices:
            chosen = [self.choose(each, choices, labels) for each in values]
            yield chosen if schema.get("type") == "array" else chosen[0]
        if schema.get("type") == "array" and not choices:
            yield values
        # Another tool has the correct value, so no guess is made.
        if not others:
            yield from self.make_spellings(value, hints)

    def parse(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return text

    def read_choices(self, hints: str) -> list[str]:
        found = re.search(r"one of ((?:[-\w]+, )*[-\w]+(?: or [-\w]+)?)", hints)
        return re.split(", | or ", found[1]) if found else []

    def choose(self, value: Any, choices: list[Any], labels: str) -> Any:
        """Return the choice that a value most likely stands for: by name, label or similarity."""
        text = str(value).casefold().strip()
        if text in YES_AND_NO and {str(c).lower() for c in choices} <= {"true", "false"}:
            return YES_AND_NO[text]
        named = {str(choice).casefold(): choice for choice in choices}
        labelled = {
            label.strip().casefold(): named[name.casefold()]
            for name, label in LABEL.findall(labels)
            if name.casefold() in named
        }
        meanings = {**labelled, **named}
        sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
        best = max(meanings, key=lambda name: self.compare_values(text, name.removeprefix("-")))
        alike = self.compare_values(text, best.removeprefix("-")) >= ALIKE
        choice = meanings[best] if alike else value
        return f"-{choice}" if alike and sign and f"-{choice}" in choices else choice

    def compare_values(self, text: str, other: str) -> float:
        return 1.0 if other in text.split() else SequenceMatcher(None, text, other).ratio()

    def make_spellings(self, value: Any, hints: str) -> Iterator[Any]:
        """Yield a value in the formats that the error's text names."""
        text = str(value)
        if re.search("YYYY|[Dd]ate|ISO 8601", hints):
            yield from self.make_dates(text, hints)
        if re.search("slug|letters, numbers|a-zA-Z0-9_", hints):
            yield re.sub(r"[^a-z0-9_]+", "-", text.lower())
        if re.search(r"capital|A-Z", hints):
            yield text.upper()
        if re.search(r"true|false|boolean", hints) and text.lower() in YES_AND_NO:
            yield YES_AND_NO[text.lower()]
        if re.search(r"\\d|digits", hints) and re.sub("[- ]", "", text).isdigit():
            yield re.sub("[- ]", "", text)
        yield from self.make_numbers(value, hints)

    def make_dates(self, text: str, hints: str) -> Iterator[str]:
        for form in DATES:
            try:
                day = datetime.strptime(text, form).date().isoformat()
            except ValueError:
                continue
            wants_time = re.search("time|hh:mm", hints)
            yield f"{day}T00:00:00Z" if wants_time else day

    def make_numbers(self, value: Any, hints: str) -> Iterator[Any]:
        if not re.search(r"number|integer|decimal|price|digits|amount", hints, re.IGNORECASE):
            bounded = re.search(r"more|most|only|less|greater|than|is \d", hints, re.IGNORECASE)
            if not bounded:
                return
        cleaned = re.sub(r"[^\d.,-]", "", str(value)).replace(",", ".")
        if NUMBERS.fullmatch(cleaned) and cleaned != str(value):
            yield cleaned
            yield float(cleaned) if "." in cleaned else int(cleaned)
        # A limit, as the error states it.
        kind = type(value) if isinstance(value, (int, float)) else str
        for number in NUMBERS.findall(hints.replace(str(value), " ")):
            if kind is not int or "." not in number:
                yield kind(number)
