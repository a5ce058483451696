"""The entries of the data files, in the words of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.agents.beside.names import Names
from benchmarks.agents.projects import Project


class Entries:
    """What one list is asked: what can be asked of every list that is judged beside it.

    Args:
        project: whose entries.
        names: how this list names tools and arguments.
        all_names: how the lists beside it do, this one among them.

    Attributes:
        left_out: how many questions, faults and tasks cannot be asked of all.
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
        """Whether each list has one of the tools of a member."""
        return all(any(map(names.find_tool, entry[member])) for names in self.all_names)

    def can_be_made(self, fault: Mapping[str, Any]) -> bool:
        """Whether each list has the tool, the arguments that would be right, the way out."""
        if "then" in fault and not self.has_tool(fault, "then"):
            return False
        right = fault.get("right", {})
        return all(names.covers(fault["tool"], right) for names in self.all_names)

    def can_be_done(self, task: Mapping[str, Any]) -> bool:
        """Whether each list has all tools of a task."""
        return all(self.has_tool({"tools": [step["tool"]]}) for step in task["steps"])

    def translate(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry in the words of this list."""
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
