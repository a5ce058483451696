"""The verdicts of the benchmarks. What they measure, tests/programs runs."""

from __future__ import annotations

from benchmarks.__main__ import find_best, name_faults
from benchmarks.agents.other_package.results import PlainResult
from benchmarks.agents.repair import Repair
from benchmarks.cases import Case, Found


def test_the_gate_measures_again_and_names_what_stays_over_its_bar():
    figures = iter([Found(1.5), Found(1.1), Found(1.5), Found(1.3), Found(1.4), Found(1.6)])
    case = Case("a call", 1.2, lambda: next(figures))
    assert find_best(case).figure == 1.1
    best = find_best(case)
    assert best.figure == 1.3
    assert name_faults(case, best) == ["a call: 1.30 is over 1.2."]
    assert name_faults(case, Found(1.21, fault="4 of 3 SQL")) == ["a call: 4 of 3 SQL."]


def test_the_agent_reads_the_errors_of_another_package_as_carefully():
    """It finds in FastMCP's sentence what REST framework's body says."""
    schema = {"properties": {"priority": {"type": "string", "enum": ["low", "high"]}}}
    tools = {"tickets_create": {"name": "tickets_create", "inputSchema": schema}}
    text = "HTTP error 400: Bad Request - {'priority': ['\"High\" is not a valid choice.']}"
    refusal = PlainResult({"isError": True, "content": [{"type": "text", "text": text}]})
    step = Repair(tools, "tickets_create", {"priority": "High"}, refusal, {}).find_step()
    assert step.arguments == {"priority": "high"}
