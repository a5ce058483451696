"""The tools that change a field which an update does not take, such as a status."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.option_types.spelling import join_alternatives
from drf_mcp.outcomes import Problem

# The part of an action's name that a value begins with: "pay" and "paid", "cancel" and
# "cancelled".
ALIKE = 0.6
# The letters of a common part elsewhere: "unblock" and "blocked".
LONG = 5


class StateFields:
    """The fields of the objects of one tool."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def advise(self, problem: Problem) -> Problem:
        """Return the problem of a read-only argument with the tools that change it."""
        name = problem.path.rpartition(".")[2]
        tools = self.find_tools([str(problem.received)]) or self.find_tools(self.get_words(name))
        if not tools:
            return problem
        text = _("Leave '%(name)s' out. %(tool)s may change it.")
        facts = {"name": name, "tool": join_alternatives(tools)}
        return replace(problem, remediation=text % facts)

    def explain(self, message: str) -> str:
        """Return a sentence with the tools that change the field in an error, "" for none."""
        said = {*re.findall(r"\w+", message.casefold())}
        for name, values in self.find_choices():
            named = [value for value in values if {*value.split()} <= said]
            if not named and name not in said:
                continue
            # No advice names a tool that destroys.
            tools = self.find_tools(named) or self.find_tools([name, *values])
            if harmless := [tool for tool in tools if not self.is_destructive(tool)]:
                facts = {"tool": join_alternatives(harmless), "name": name}
                return _("%(tool)s may change its %(name)s.") % facts
        return ""

    def is_destructive(self, tool: str) -> bool:
        decorations = self.tool.related.endpoints[tool].decorations
        return any(options.destructive for options in decorations)

    def get_words(self, name: str) -> list[str]:
        return [name, *dict(self.find_choices()).get(name, ())]

    def find_choices(self) -> Iterator[tuple[str, list[str]]]:
        model = self.tool.endpoint.model
        for field in model._meta.concrete_fields if model is not None else ():
            if pairs := field.flatchoices:
                yield field.name, [str(text).casefold() for pair in pairs for text in pair if text]

    def find_tools(self, words: list[str]) -> list[str]:
        """Return the actions of the same object whose names are like one of some words."""
        endpoint, path = self.tool.endpoint, self.tool.endpoint.object_path
        if endpoint.key_kwarg is None:
            return []
        return [
            name
            for name, other in self.tool.related.endpoints.items()
            if other.method != "GET" and name != self.tool.name and other.object_path == path
            if any(self.is_like(other.route.path[len(path) :].strip("/"), word) for word in words)
        ]

    def is_like(self, action: str, word: str) -> bool:
        action, word = action.replace("-", "_").casefold(), word.casefold()
        if not action or action in word.split("_"):
            return bool(action)
        common = SequenceMatcher(None, action, word).find_longest_match()
        is_begun = common.a == common.b == 0 and common.size >= max(2, ALIKE * len(action))
        return is_begun or common.size >= LONG
