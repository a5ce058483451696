"""The entries of the data files, with the names that a list uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.agents.other_package.names import Names
from benchmarks.agents.projects import Project


class Entries:
    """The entries for one list: those that every compared list has the tools for.

    Args:
        project: the project of the entries.
        names: this list's names of tools and arguments.
        all_names: the names of all compared lists, this list among them.

    Attributes:
        left_out: how many questions, faults and tasks some list has no tools for.
    """

    def __init__(self, project: Project, names: Names, all_names: Sequence[Names]) -> None:
        self.names = names
        self.all_names = all_names
        read = {name: project.read(name) for name in ("questions", "faults", "tasks")}
        self.questions = [self.translate(e) for e in read["questions"] if self.has_tool(e)]
        self.faults = [self.translate(each) for each in read["faults"] if self.can_be_made(each)]
        self.tasks = [self.translate(each) for each in read["tasks"] if self.can_be_done(each)]
        asked = len(self.questions) + len(self.faults) + len(self.tasks)
        self.left_out = sum(map(len, read.values())) - asked

    def has_tool(self, entry: Mapping[str, Any], member: str = "tools") -> bool:
        """Return whether each list has one of the tools of a member."""
        return all(any(map(names.find_tool, entry[member])) for names in self.all_names)

    def can_be_made(self, fault: Mapping[str, Any]) -> bool:
        """Return whether each list has the tool, the correct arguments and the way out."""
        if "then" in fault and not self.has_tool(fault, "then"):
            return False
        right = fault.get("right", {})
        return all(names.covers(fault["tool"], right) for names in self.all_names)

    def can_be_done(self, task: Mapping[str, Any]) -> bool:
        """Return whether each list has all tools of a task."""
        return all(self.has_tool({"tools": [step["tool"]]}) for step in task["steps"])

    def translate(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry with the names of this list."""
        translated = dict(entry)
        for member in {"tools", "then"} & entry.keys():
            translated[member] = [*filter(None, map(self.names.find_tool, entry[member]))]
        if "steps" in entry:
            translated["steps"] = [self.translate(step) for step in entry["steps"]]
        if "tool" in entry:
            translated["tool"] = self.names.find_tool(entry["tool"])
        for member in {"arguments", "right", "knows", "if_offered"} & entry.keys():
            translated[member] = self.names.translate(entry["tool"], entry[member])
        return translated
