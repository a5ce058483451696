"""What changed between the tools of a lock file and those of the project."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

ANY = "any"
# A definition that grew by more than this share is reported.
GROWTH = 0.25

Entry = dict[str, Any]


@dataclass(frozen=True)
class Change:
    tool: str
    message: str
    # Whether an agent that worked may stop working, or other callers may call.
    breaking: bool

    def __str__(self) -> str:
        return f"{self.tool}: {self.message}"


def compare_tools(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[Change]:
    changes = [Change(name, _("removed"), True) for name in old if name not in new]
    for name in old:
        if name in new:
            comparison = EntryComparison(old[name], new[name])
            changes += [Change(name, *difference) for difference in comparison.find_differences()]
    changes += [Change(name, _("added"), False) for name in new if name not in old]
    return sorted(changes, key=lambda change: not change.breaking)


# What changed, and whether that breaks.
Difference = tuple[str, bool]


class EntryComparison:
    def __init__(self, old: Entry, new: Entry) -> None:
        self.old = old
        self.new = new

    def find_differences(self) -> Iterator[Difference]:
        old, new = self.old, self.new
        both = {"old": old, "new": new}
        if old["permissions"] != new["permissions"]:
            facts = {name: self.list_names(entry["permissions"]) for name, entry in both.items()}
            yield _("permissions %(old)s became %(new)s") % facts, True
        yield from self.compare_arguments()
        yield from self.compare_answers()
        if old["request"] != new["request"]:
            facts = {name: entry["request"] for name, entry in both.items()}
            yield _("request %(old)s became %(new)s") % facts, False
        if new["size"] > old["size"] * (1 + GROWTH):
            facts = {name: entry["size"] for name, entry in both.items()}
            yield _("grew from %(old)d to %(new)d bytes") % facts, False

    def list_names(self, dotted: Sequence[str]) -> str:
        # A name without a dot is the sentence of a view that chooses its permissions.
        names = (n.rpartition(".")[2] if "." in n else _(n) for n in dotted)
        return ", ".join(names) or pgettext("permissions", "none")

    def compare_arguments(self) -> Iterator[Difference]:
        old, new = self.old["arguments"], self.new["arguments"]
        for name in old:
            if name not in new:
                yield _("argument %(name)s removed") % {"name": name}, True
            else:
                yield from self.compare_argument(name, old[name], new[name])
        for name in new:
            if name not in old:
                # A required member of an object that is new and optional breaks no call.
                parent = name.rpartition(".")[0].removesuffix("[]")
                required = new[name].get("required", False) and parent in {"", *old}
                added = _("argument %(name)s added")
                if required:
                    added = _("required argument %(name)s added")
                yield added % {"name": name}, required

    def compare_argument(self, name: str, old: Entry, new: Entry) -> Iterator[Difference]:
        if old["type"] != new["type"]:
            fewer = not self.accepts(new["type"], old["type"])
            facts = {"name": name, "old": old["type"], "new": new["type"]}
            yield _("argument %(name)s changed from %(old)s to %(new)s") % facts, fewer
        yield from self.compare_choices(name, old.get("enum"), new.get("enum"))
        required = new.get("required", False)
        if required != old.get("required", False):
            became = _("argument %(name)s became optional")
            if required:
                became = _("argument %(name)s became required")
            yield became % {"name": name}, required

    def compare_choices(
        self, name: str, old: list[Any] | None, new: list[Any] | None
    ) -> Iterator[Difference]:
        if new is None:
            return
        if old is None:
            facts = {"name": name, "values": self.list_values(new)}
            yield _("argument %(name)s takes only %(values)s now") % facts, True
            return
        if removed := [value for value in old if value not in new]:
            facts = {"name": name, "values": self.list_values(removed)}
            yield _("argument %(name)s no longer takes %(values)s") % facts, True
        if added := [value for value in new if value not in old]:
            facts = {"name": name, "values": self.list_values(added)}
            yield _("argument %(name)s takes %(values)s as well") % facts, False

    def list_values(self, values: Sequence[Any]) -> str:
        return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)

    def compare_answers(self) -> Iterator[Difference]:
        old, new = self.old["answers"], self.new["answers"]
        for name in old:
            if name not in new:
                yield _("field %(name)s of the answer removed") % {"name": name}, True
            elif old[name]["type"] != new[name]["type"]:
                was, is_now = old[name]["type"], new[name]["type"]
                facts = {"name": name, "old": was, "new": is_now}
                changed = _("field %(name)s of the answer changed from %(old)s to %(new)s") % facts
                yield changed, not self.accepts(was, is_now)
        for name in new:
            if name not in old:
                yield _("field %(name)s of the answer added") % {"name": name}, False

    def accepts(self, new: str, old: str) -> bool:
        allowed, required = set(new.split(" | ")), set(old.split(" | "))
        if "number" in allowed:
            allowed.add("integer")
        return ANY in allowed or required <= allowed
