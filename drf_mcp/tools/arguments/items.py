"""The argument ``items`` of a write: what several calls of a tool would take, in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.introspection.types import Schema
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.outcomes import Problem
from drf_mcp.tools.arguments.call import BODY, CONTROL, PATH, Argument, Call
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused
from drf_mcp.tools.preconditions import IF_MATCH

NAME = "items"
MOST = 50


class Items:
    """Binds each item as the arguments of a call of its own.

    Args:
        arguments: the `Arguments` of a call about one object.
        key: the path kwarg of that object, which each item has; "" where a call makes one.
        most: the most items of a call.
    """

    def __init__(self, arguments: Any, key: str, most: int) -> None:
        self.arguments = arguments
        self.key = key
        self.most = most
        every = [*arguments.arguments, *arguments.controls]
        self.own = [argument for argument in every if self.is_own(argument)]
        self.shared = [argument for argument in every if not self.is_own(argument)]
        taken = {argument.name for argument in every}
        self.name = NAME if NAME not in taken else f"{NAME}_{BODY}"

    def is_own(self, argument: Argument) -> bool:
        # Of the arguments of guards each object has but its version.
        name, location = argument.parameter.name, argument.location
        if location == CONTROL:
            return name == IF_MATCH
        return location == BODY or (location == PATH and name == self.key)

    def add_to(self, schema: Schema) -> Schema:
        """Return the schema of all arguments, of which those of one object are optional."""
        own = {argument.name for argument in self.own}
        groups = {argument.group for argument in self.own if argument.group}
        required = [n for n in schema.get("required", ()) if n not in own and n not in groups]
        others = {name: value for name, value in schema.items() if name != "required"}
        properties = {**schema["properties"], self.name: self.schema}
        return {**others, "properties": properties, **({"required": required} if required else {})}

    @property
    def schema(self) -> Schema:
        groups: dict[str, list[Argument]] = {}
        for argument in self.own:
            groups.setdefault("" if argument.whole else argument.group, []).append(argument)
        get_schema = self.arguments.get_object_schema
        item = get_schema(map(self.without_words, groups.pop("", [])))
        for name, members in groups.items():
            item["properties"][name] = get_schema(map(self.without_words, members))
        return {
            "type": "array",
            "description": "Several at once, instead of the arguments of one",
            "items": item,
            "minItems": 1,
            "maxItems": self.most,
        }

    def without_words(self, argument: Argument) -> Argument:
        # They stand beside the arguments of one object.
        parameter = argument.parameter
        schema = {n: v for n, v in dict(parameter.schema).items() if n != "description"}
        required = parameter.required or argument.location == PATH
        return replace(argument, parameter=replace(parameter, schema=schema, required=required))

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        items = parse_json_text(arguments[self.name], list)
        if not isinstance(items, list) or not 0 < len(items) <= self.most:
            raise ArgumentsRefused([self.wrong_number(items)])
        shared = {name: value for name, value in arguments.items() if name != self.name}
        if problems := [self.misplaced(a, True) for a in self.find_sent(self.own, shared)]:
            raise ArgumentsRefused(problems)
        calls = []
        for index, item in enumerate(items):
            try:
                calls.append(self.bind_item(item, shared))
            except ArgumentsRefused as exc:
                located = (self.locate(problem, index, shared) for problem in exc.problems)
                # What is wrong with all of them is told once.
                problems += [problem for problem in located if problem not in problems]
        if problems:
            raise ArgumentsRefused(problems)
        return self.join(arguments, calls)

    def bind_item(self, item: Any, shared: Mapping[str, Any]) -> Call:
        if not isinstance(item, Mapping):
            raise ArgumentsRefused([ArgumentErrors().not_an_object(item)])
        controls = [argument for argument in self.shared if argument.location == CONTROL]
        if problems := [self.misplaced(a, False) for a in self.find_sent(controls, item)]:
            raise ArgumentsRefused(problems)
        call: Call = self.arguments.bind_one(self.arguments.merge(shared, item))
        return call

    def join(self, arguments: Mapping[str, Any], calls: list[Call]) -> Call:
        first = calls[0]
        keys = {self.key: [call.kwargs[self.key] for call in calls]} if self.key else {}
        controls = {name: value for name, value in first.controls.items() if name != IF_MATCH}
        return Call(
            arguments,
            {**first.kwargs, **keys},
            first.query_string,
            controls=controls,
            items=tuple(calls),
        )

    def find_sent(self, known: Iterable[Argument], arguments: Mapping[str, Any]) -> list[Argument]:
        return [argument for argument in known if JSONPointer(argument.pointer).is_in(arguments)]

    def locate(self, problem: Problem, index: int, shared: Mapping[str, Any]) -> Problem:
        """Return the problem of an item, with its place among all arguments."""
        pointer = problem.pointer
        if pointer and JSONPointer(pointer).is_in(shared):
            return problem
        return replace(problem, pointer=f"/{self.name}/{index}{pointer}")

    def wrong_number(self, items: Any) -> Problem:
        many = isinstance(items, list) and len(items) > self.most
        accepted = f"an array of 1 to {self.most} objects"
        further = " Send the others in further calls." if many else ""
        return Problem(
            code="max_length" if many else "not_a_list" if not isinstance(items, list) else "empty",
            message=f"'{self.name}' takes {accepted}.",
            pointer=f"/{self.name}",
            accepted=accepted,
            remediation=f"Send {accepted}.{further}",
        )

    def misplaced(self, argument: Argument, into: bool) -> Problem:
        where = f"into each of '{self.name}'" if into else f"beside '{self.name}'"
        return Problem(
            code="misplaced",
            message=f"With '{self.name}', '{argument.name}' goes {where}.",
            pointer=argument.pointer,
            remediation=f"Put '{argument.name}' {where}.",
        )
