"""Faults: what an agent gets wrong, and whether the error sets it right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.agents.projects import Endpoint, Project
from benchmarks.agents.repair import Repair
from drf_mcp.test import MCPRefused, ToolResult

MENDED, UNMENDED, SILENT = "mended", "refused, not mended", "silently wrong"
# Answers of two calls that mean the same differ in these.
VOLATILE = frozenset(
    {"number", "placed_at", "created", "borrowed_at", "returned_at", "timestamp", "cover", "time"}
)


@dataclass(frozen=True)
class Verdict:
    """What became of a fault.

    Attributes:
        fault: the entry of the data file.
        end: `MENDED`, `UNMENDED` or `SILENT`.
        error: the text of the error, "" where the call was accepted.
        step: what the agent did next, for the report.
    """

    fault: Mapping[str, Any]
    end: str
    error: str = ""
    step: str = ""


class Faults:
    """Makes the mistakes of a data file against a project: all, or a sample, every so many."""

    def __init__(self, project: Project, endpoint: Endpoint, every: int) -> None:
        self.project = project
        self.own = endpoint
        self.every = every

    def run(self) -> Iterator[Verdict]:
        for fault in self.project.read("faults")[:: self.every]:
            endpoint = Endpoint(fault["user"]) if "user" in fault else self.own
            yield self.judge(fault, endpoint)

    def judge(self, fault: Mapping[str, Any], endpoint: Endpoint) -> Verdict:
        """Return what became of a fault.

        Raises:
            ValueError: if the arguments that would be right are refused: the entry is wrong then.
        """
        right = self.answer_right(fault, endpoint)
        try:
            result = endpoint.try_call(fault["tool"], fault["arguments"])
        except MCPRefused as exc:
            return Verdict(fault, UNMENDED, str(exc))
        if not result.is_error:
            return self.judge_accepted(fault, result, right)
        if fault["tool"] not in endpoint.tools:
            # A tool that this user's list does not have: the agent can only stop.
            return Verdict(fault, MENDED if fault.get("stop") else UNMENDED, result.text)
        knows = fault.get("knows", {})
        repair = Repair(endpoint.tools, fault["tool"], fault["arguments"], result, knows)
        step = repair.find_step()
        if step.tools & set(fault.get("then", ())):
            return Verdict(fault, MENDED, result.text, f"calls {', '.join(sorted(step.tools))}")
        if step.arguments is None:
            end = MENDED if fault.get("stop") and not self.is_internal(result) else UNMENDED
            return Verdict(fault, end, result.text, "stops")
        retried = endpoint.try_call(fault["tool"], step.arguments)
        same = right is not None and not retried.is_error and self.read(retried) == right
        return Verdict(fault, MENDED if same else UNMENDED, result.text, f"sends {step.arguments}")

    def judge_accepted(self, fault: Mapping[str, Any], result: ToolResult, right: Any) -> Verdict:
        """Judge a mistake that was answered: as it was meant, with a warning, or in silence."""
        told = bool(result.meta.get("warnings")) or not result.ok
        meant = right is not None and self.read(result) == right
        if meant and not fault.get("loud"):
            return Verdict(fault, MENDED, step="was understood")
        return Verdict(fault, UNMENDED if told else SILENT, step="is answered")

    def answer_right(self, fault: Mapping[str, Any], endpoint: Endpoint) -> Any:
        if "right" not in fault:
            return None
        result = endpoint.try_call(fault["tool"], fault["right"])
        if result.is_error:
            raise ValueError(f"{fault['tool']}, {fault['mistake']}: {result.text}")
        return self.read(result)

    def read(self, result: ToolResult) -> Any:
        """Return an answer without what changes from call to call."""
        return self.strip(result.data)

    def strip(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {k: self.strip(v) for k, v in value.items() if k not in VOLATILE}
        return [self.strip(each) for each in value] if isinstance(value, list) else value

    def is_internal(self, result: ToolResult) -> bool:
        return result.error is not None and "INTERNAL" in result.error.code.upper()
