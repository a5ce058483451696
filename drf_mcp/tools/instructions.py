"""The instructions of a server, written from the names of its tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from drf_mcp.tools.tool import Tool

# Clients cut longer ones.
MAX_LENGTH = 2048


class Instructions:
    """The instructions for tools; nothing is introspected for them.

    Args:
        tools: the tools that a caller sees.
        retrieval_tool: the name of the tool that fetches what a shortened result left out.
        hints: sentences before those of `get_hints`.
    """

    def __init__(
        self, tools: Iterable[Tool], retrieval_tool: str = "", hints: Iterable[str] = ()
    ) -> None:
        self.hints = tuple(hints)
        self.tools = {tool.name: tool for tool in tools}
        self.retrieval_tool = retrieval_tool if retrieval_tool in self.tools else ""

    def get_text(self) -> str:
        """Return the text, "" without a tool, in 2,048 characters at most."""
        if not self.groups:
            return ""
        hints = " ".join([*self.hints, *self.get_hints()])
        room = MAX_LENGTH - len(hints) - 1
        return f"{self.describe_groups(room)}\n{hints}".strip()

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The actions of each noun; a tool without an action in its name is a noun."""
        groups: dict[str, list[str]] = {}
        for name, tool in self.tools.items():
            if name != self.retrieval_tool:
                noun, action = self.take_apart(tool)
                groups.setdefault(noun, []).extend(filter(None, [action]))
        return groups

    def take_apart(self, tool: Tool) -> tuple[str, str]:
        action = tool.endpoint.standard_action or ""
        noun = tool.name.removesuffix(f"_{action}")
        return (noun, action) if action and noun != tool.name else (tool.name, "")

    def describe_groups(self, room: int) -> str:
        """Return nouns with their actions, else nouns alone, as many as there is room for."""
        groups = {noun: actions for noun, actions in self.groups.items() if actions}
        if alone := [noun for noun in self.groups if noun not in groups]:
            groups[_("Others")] = alone
        lines = (f"{noun}: {', '.join(members)}" for noun, members in groups.items())
        whole = "\n".join([_("Tools by what they are about:"), *lines])
        if len(whole) <= room:
            return whole
        nouns = list(self.fit(self.groups, room - len(self.name_nouns([], len(self.groups)))))
        return self.name_nouns(nouns, len(self.groups) - len(nouns))

    def name_nouns(self, nouns: Iterable[str], rest: int) -> str:
        count = len(self.tools)
        some = ngettext(
            "%(count)d tool, about: %(nouns)s, and %(rest)d more.",
            "%(count)d tools, about: %(nouns)s, and %(rest)d more.",
            count,
        )
        every = ngettext(
            "%(count)d tool, about: %(nouns)s.", "%(count)d tools, about: %(nouns)s.", count
        )
        return (some if rest else every) % {"count": count, "nouns": ", ".join(nouns), "rest": rest}

    @staticmethod
    def fit(nouns: Iterable[str], room: int) -> Iterator[str]:
        for noun in nouns:
            room -= len(noun) + 2
            if room < 0:
                return
            yield noun

    def get_hints(self) -> Iterator[str]:
        """Yield sentences about several tools."""
        tools = self.tools.values()
        if example := next((name for noun in self.groups for name in self.get_names(noun)), ""):
            text = _(
                "Names are noun and action, such as %(name)s: search for both words where not "
                "every tool is shown."
            )
            yield text % {"name": example}
        if any(tool.endpoint.standard_action == "list" for tool in tools):
            yield _("Long lists come in pages: filter them before you read on.")
        if any(tool.selects for tool in tools):
            yield _("In reads, `fields` names what you need of the answer, nested fields by dots.")
        if self.retrieval_tool:
            text = _("%(tool)s fetches what a shortened result left out.")
            yield text % {"tool": self.retrieval_tool}

    def get_names(self, noun: str) -> Iterator[str]:
        return (f"{noun}_{action}" for action in self.groups[noun])
