"""First attempts: arguments made from the schema alone, with keys of existing rows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from django.db import IntegrityError

from benchmarks.agents.generation import Generator
from benchmarks.agents.projects import Endpoint, Project, get_at
from drf_mcp.test import MCPRefused

# Codes of refusals that depend on the rows or the caller: no schema can state them.
NOT_OF_THE_SCHEMA = frozenset({"conflict", "authorization"})
# Packages that answer a conflict with status 500 raise these; protected rows are a case of it.
CONFLICTS = (IntegrityError,)
NOTHING = object()


class Keys:
    """Puts keys of existing rows into arguments, as an agent does after reading the lists."""

    def __init__(self, endpoint: Endpoint, rules: list[dict[str, Any]]) -> None:
        self.endpoint = endpoint
        self.names = endpoint.names
        self.rules = rules
        self.random = random.Random()
        self.rows: dict[int, list[Any]] = {}

    def get_reason_to_leave_out(self, tool: str) -> str:
        """Return why a tool gets no attempts, "" if it gets attempts."""
        rules = self.find_rules(tool)
        missing = self.find_missing_row(tool, rules)
        return next(filter(None, (rule.get("leave_out", "") for rule in rules)), missing)

    def find_missing_row(self, tool: str, rules: list[dict[str, Any]]) -> str:
        # A tool that takes the key of a row needs an existing row.
        schema, name = self.endpoint.tools[tool]["inputSchema"], self.names.find_data_name(tool)
        for argument in schema.get("required", ()):
            for rule in rules:
                given = {**rule.get("members", {}), **rule.get("values", {})}
                if argument in self.names.translate(name, given):
                    if "from" in rule and not self.read_rows(rule):
                        return f"There is no row for {argument}."
                    break
        return ""

    def find_rules(self, tool: str) -> list[dict[str, Any]]:
        name = self.names.find_data_name(tool)
        return [rule for rule in self.rules if fnmatch(name, rule["tools"])]

    def put(self, tool: str, arguments: Mapping[str, Any], seed: str) -> dict[str, Any]:
        """Return the arguments with keys. The same seed gives the same keys."""
        self.random.seed(seed)
        rules, name = self.find_rules(tool), self.names.find_data_name(tool)
        omitted = {name for rule in rules for name in rule.get("omit", ())}
        omitted = set(self.names.translate(name, dict.fromkeys(omitted)))
        omitted -= set(self.endpoint.tools[tool]["inputSchema"].get("required", ()))
        kept = {name: value for name, value in arguments.items() if name not in omitted}
        # All arguments come from one row, so that the key of a parent fits the key of its child.
        values = self.names.translate(name, self.choose_values(rules))
        return {name: self.fill(name, value, rules, values) for name, value in kept.items()}

    def choose_values(self, rules: list[dict[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for rule in rules:
            values = {**self.read_rule(rule), **values}
        return values

    def read_rule(self, rule: dict[str, Any]) -> dict[str, Any]:
        if "values" in rule:
            return {name: self.random.choice(each) for name, each in rule["values"].items()}
        rows = self.read_rows(rule) if "from" in rule else []
        row = self.random.choice(rows) if rows else NOTHING
        members = rule.get("members", {}).items() if row is not NOTHING else ()
        return {argument: get_at(row, member) for argument, member in members}

    def read_rows(self, rule: dict[str, Any]) -> list[Any]:
        if id(rule) not in self.rows:
            self.rows[id(rule)] = self.read_list(rule)
        return self.rows[id(rule)]

    def read_list(self, rule: dict[str, Any]) -> list[Any]:
        tool = self.names.find_tool(rule["from"])
        if tool is None:
            return []
        arguments = self.names.translate(rule["from"], rule.get("with", {}))
        # Not rolled back: content that a list archives can be fetched later.
        result = self.endpoint.call(tool, arguments)
        # An object is keyed like a list of rows.
        return list(get_at(result.envelope, rule["rows"]) or ())

    def fill(self, name: str, value: Any, rules: Any, values: Mapping[str, Any]) -> Any:
        if isinstance(value, dict):
            # Each row of a list gets a different key.
            inner = self.choose_values(rules)
            return {key: self.fill(key, each, rules, inner) for key, each in value.items()}
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return [self.fill(name, each, rules, values) for each in value]
        if name not in values:
            return value
        return [values[name]] if isinstance(value, list) else values[name]


@dataclass(frozen=True)
class Attempt:
    """A call with arguments made from a schema.

    Attributes:
        tool: the tool.
        arguments: its arguments.
        accepted: whether the arguments were accepted.
        refusal: why the arguments were refused, "" if they were accepted.
    """

    tool: str
    arguments: dict[str, Any]
    accepted: bool
    refusal: str


class FirstAttempts:
    """Calls every tool of a list with arguments made from its schema."""

    def __init__(self, project: Project, endpoint: Endpoint, count: int) -> None:
        self.endpoint = endpoint
        self.count = count
        self.keys = Keys(endpoint, project.read("keys"))
        reasons = {name: self.keys.get_reason_to_leave_out(name) for name in endpoint.tools}
        self.left_out = {name: reason for name, reason in reasons.items() if reason}

    def run(self) -> Iterator[Attempt]:
        """Yield the attempts: first with the required arguments alone, then with optional ones."""
        for name in [each for each in self.endpoint.tools if each not in self.left_out]:
            schema = self.endpoint.tools[name]["inputSchema"]
            for number in range(self.count):
                seed = f"{name} {number}"
                made = Generator(seed).make_arguments(schema, 0.6 if number else 0)
                yield self.attempt(name, self.keys.put(name, made, seed))

    def attempt(self, tool: str, arguments: dict[str, Any]) -> Attempt:
        try:
            result = self.endpoint.try_call(tool, arguments)
        except MCPRefused as exc:
            return Attempt(tool, arguments, False, str(exc))
        if result.error is None or not result.is_error:
            return Attempt(tool, arguments, True, "")
        kind = get_at(result.envelope, "data.error_type")
        excused = kind in NOT_OF_THE_SCHEMA or isinstance(self.endpoint.crash, CONFLICTS)
        refusal = f"{result.error.code}: {result.error.message}"
        return Attempt(tool, arguments, excused, refusal)
