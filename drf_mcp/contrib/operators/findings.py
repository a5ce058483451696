"""Findings of the lint: one root cause at one place of the project, with the tools that have it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

TOOLS = "{tools}"
NAMED = 3


@dataclass(frozen=True)
class LintFinding:
    """What could be better about some tools, where, and how.

    Attributes:
        cause: the kind of root cause, such as ``open-body``.
        place: the project's own line, ``shop/views.py:12``, or ``DRF_MCP`` for the settings.
        subject: the class, field or filter that the line defines.
        sentence: what was found; ``{tools}`` is replaced by the names of the tools.
        remedy: the edit that mends it, to paste.
        saves: the tokens of ``tools/list`` that the edit saves, 0 for none.
    """

    cause: str
    place: str
    subject: str
    sentence: str
    remedy: str
    tools: tuple[str, ...]
    saves: int = 0

    @property
    def message(self) -> str:
        return self.sentence.replace(TOOLS, ", ".join(self.tools))

    @property
    def key(self) -> tuple[str, ...]:
        return self.cause, self.place, self.subject, self.sentence, self.remedy

    def join(self, other: LintFinding) -> LintFinding:
        tools = dict.fromkeys((*self.tools, *other.tools))
        return replace(self, tools=tuple(tools), saves=self.saves + other.saves)

    def as_data(self) -> dict[str, Any]:
        data = {**asdict(self), "message": self.message}
        del data["sentence"]
        return data


def join_findings(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """Return one finding for each root cause, with the tools of all."""
    joined: dict[tuple[str, ...], LintFinding] = {}
    for finding in findings:
        known = joined.get(finding.key)
        joined[finding.key] = finding if known is None else known.join(finding)
    return list(joined.values())


@dataclass(frozen=True)
class SharedCause:
    """A kind of root cause that several tools have together, with the attributes of a `Rule`."""

    cause: str
    title: str
    why: str
    remedy: str
    is_brief: bool = True

    def make(
        self, place: str, subject: str, sentence: str, tools: tuple[str, ...] = (), saves: int = 0
    ) -> LintFinding:
        return LintFinding(self.cause, place, subject, sentence, _(self.remedy), tools, saves)
