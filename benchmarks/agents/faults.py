"""Faults: calls with a mistake, and whether the error leads the agent to the correct call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.agents.projects import Endpoint
from benchmarks.agents.repair import FINAL, Repair, Step, TextAnswer
from benchmarks.agents.search import Search, split_words
from drf_mcp.test import MCPRefused, ToolResult

MENDED, UNMENDED, SILENT = "mended", "refused, not mended", "silently wrong"
# Two answers with the same meaning differ in these members.
VOLATILE = frozenset(
    {"number", "placed_at", "created", "borrowed_at", "returned_at", "timestamp", "cover", "time"}
    | {"created_at", "updated_at", "last_update"}
)
# Each new row has another key, where keys are random.
DRAWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Verdict:
    """The result of a fault.

    Attributes:
        fault: the entry of the data file.
        end: `MENDED`, `UNMENDED` or `SILENT`.
        error: the text of the error, "" where the call was accepted.
        error: the text of the error, "" if the call was accepted.
    """

    fault: Mapping[str, Any]
    end: str
    error: str = ""
    step: str = ""


class Faults:
    """Calls an endpoint with mistakes."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.own = endpoint
        self.search = Search(endpoint.tools)

    def run(self, faults: Iterable[Mapping[str, Any]]) -> Iterator[Verdict]:
        for fault in faults:
            endpoint = self.own.as_user(fault["user"]) if "user" in fault else self.own
            yield self.judge(fault, endpoint)

    def judge(self, fault: Mapping[str, Any], endpoint: Endpoint) -> Verdict:
        """Return the verdict on a fault."""
        right = self.get_correct_answer(fault, endpoint)
        try:
            result = endpoint.try_call(fault["tool"], fault["arguments"])
        except MCPRefused as exc:
            return Verdict(fault, UNMENDED, str(exc))
        if not result.is_error:
            return self.judge_accepted(fault, endpoint, result, right)
        if fault["tool"] not in endpoint.tools:
            # The tool is not in this user's list: the agent can only stop.
            return Verdict(fault, MENDED if fault.get("stop") else UNMENDED, result.text)
        knows = fault.get("knows", {})
        repair = Repair(endpoint.tools, fault["tool"], fault["arguments"], result, knows)
        step = repair.find_step()
        if step == Step() and repair.error_type not in FINAL:
            step = Step(tools=frozenset({self.find_lister(fault["tool"], result)}))
        if not self.goes_on(fault, step):
            end = MENDED if fault.get("stop") and not self.is_internal(result) else UNMENDED
            return Verdict(fault, end, result.text, "stops")
        return self.follow(fault, endpoint, step, right, result.text)

    def goes_on(self, fault: Mapping[str, Any], step: Step) -> bool:
        return step.arguments is not None or bool(step.tools & set(fault.get("then", ())))

    def follow(
        self, fault: Mapping[str, Any], endpoint: Endpoint, step: Step, right: Any, error: str
    ) -> Verdict:
        """Follow a step to another call; a retry has to give the correct answer."""
        if step.tools & set(fault.get("then", ())):
            return Verdict(fault, MENDED, error, f"calls {', '.join(sorted(step.tools))}")
        retried = endpoint.try_call(fault["tool"], step.arguments or {})
        same = right is not None and not retried.is_error and self.read(retried) == right
        return Verdict(fault, MENDED if same else UNMENDED, error, f"sends {step.arguments}")

    def find_lister(self, tool: str, result: ToolResult) -> str:
        """Return the tool that lists the argument's rows, for an agent without better advice."""
        places = " ".join(problem.pointer for problem in result.problems)
        return self.search.find_lister(places or " ".join(split_words(tool)[:-1]))

    def judge_accepted(
        self, fault: Mapping[str, Any], endpoint: Endpoint, result: ToolResult, right: Any
    ) -> Verdict:
        """Judge a mistake that was answered: with the intended result, a warning, or silence.

        A warning is read like an error: the agent reads nothing else of the answer.
        """
        warnings = result.meta.get("warnings") or ()
        warned = bool(warnings) or not result.ok
        understood = right is not None and self.read(result) == right
        if understood and not fault.get("loud"):
            return Verdict(fault, MENDED, step="was understood")
        said, knows = TextAnswer("\n".join(map(str, warnings))), fault.get("knows", {})
        step = Repair(endpoint.tools, fault["tool"], fault["arguments"], said, knows).find_step()
        if warned and self.goes_on(fault, step):
            return self.follow(fault, endpoint, step, right, "")
        return Verdict(fault, UNMENDED if warned else SILENT, step="is answered")

    def get_correct_answer(self, fault: Mapping[str, Any], endpoint: Endpoint) -> Any:
        """Return the answer to the correct arguments, None if there are none.

        Raises:
            ValueError: if our package refuses them, since the entry is wrong then.
        """
        if "right" not in fault:
            return None
        result = endpoint.try_call(fault["tool"], fault["right"])
        if result.is_error and endpoint.package == Endpoint.package:
            raise ValueError(f"{fault['tool']}, {fault['mistake']}: {result.text}")
        # An agent cannot correct what its package cannot send.
        return None if result.is_error else self.read(result)

    def read(self, result: ToolResult) -> Any:
        """Return an answer without the members that change from call to call."""
        return self.strip(result.data)

    def strip(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {k: self.strip(v) for k, v in value.items() if not self.is_volatile(k, v)}
        return [self.strip(each) for each in value] if isinstance(value, list) else value

    def is_volatile(self, name: str, value: Any) -> bool:
        drawn = name in ("id", "uuid") and DRAWN.fullmatch(str(value)) is not None
        return name in VOLATILE or drawn

    def is_internal(self, result: ToolResult) -> bool:
        return result.error is not None and "INTERNAL" in result.error.code.upper()
