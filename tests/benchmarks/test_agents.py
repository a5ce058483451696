"""The scores of the scripted agent: its parts, and figures that are worse than recorded."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from benchmarks.agents.faults import MENDED, SILENT, UNMENDED, Faults
from benchmarks.agents.generation import Generator
from benchmarks.agents.judge import Gates
from benchmarks.agents.projects import DATA
from benchmarks.agents.repair import Repair, TextAnswer
from benchmarks.agents.search import Search
from benchmarks.agents.tokens import Tokens
from drf_mcp.test import ToolResult

LEAST = {"questions": 60, "faults": 60, "tasks": 10}
SCHEMA = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["paid", "shipped"]},
        "due": {"type": "string", "pattern": r"^\d{4}-(0[1-9]|1[0-2])-\d\d$"},
        "amount": {"type": "string", "pattern": r"^-?[0-9]{0,4}(\.[0-9]{1,2})?$"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$", "maxLength": 2},
        "rows": {"type": "integer", "minimum": 1, "maximum": 20},
        "lines": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
        },
    },
    "required": ["status", "lines"],
    "additionalProperties": False,
}
TOOLS = {
    "orders_list": {
        "name": "orders_list",
        "description": "List orders.",
        "inputSchema": SCHEMA,
    },
    "orders_refund": {
        "name": "orders_refund",
        "description": "Give money back.",
        "inputSchema": {"type": "object", "properties": {"pk": {"type": "integer"}}},
    },
}


def refuse(argument: str, code: str, message: str, accepted: str = "", kind: str = "validation"):
    """Return a refusal of one argument, as the default envelope writes it."""
    problem = {"pointer": f"/{argument}", "field": argument, "code": code, "message": message}
    data = {
        "error_code": "VALIDATION_ERROR",
        "error_type": kind,
        "remediation": "Correct it.",
        "details": {"problems": [{**problem, "accepted": accepted}] if argument else []},
    }
    meta = {"version": "response-v2"}
    envelope = {"success": False, "error": message, "meta": meta, "data": data}
    content = [{"type": "text", "text": json.dumps(envelope)}]
    return ToolResult({"isError": True, "structuredContent": envelope, "content": content})


SIZES = dict.fromkeys([*Gates.SIZES, "error_tokens_median"], 100)


def make_findings(*, accepted=True, ends=(MENDED, MENDED), **figures):
    """Return the findings about a project, as far as they are compared with recorded figures."""
    faults = [{"tool": "orders_list", "mistake": f"mistake {n}"} for n in range(len(ends))]
    pairs = zip(faults, ends, strict=True)
    return SimpleNamespace(
        project=SimpleNamespace(name="loans"),
        figures={**SIZES, "faults": len(ends), **figures},
        verdicts=[SimpleNamespace(fault=fault, end=end) for fault, end in pairs],
        attempts=[SimpleNamespace(tool="orders_list", accepted=accepted)],
    )


def test_figures_worse_than_recorded_are_named(tmp_path):
    gates = Gates(tmp_path / "recorded.json")
    gates.record(make_findings(ends=(MENDED, UNMENDED)))
    gates = Gates(tmp_path / "recorded.json")
    as_good = [
        make_findings(list_tokens=99, error_tokens_median=100 + gates.CHANCE),
        make_findings(ends=(MENDED, UNMENDED)),
        # A sample, whose median differs from that of all faults.
        make_findings(ends=(MENDED,), error_tokens_median=200),
    ]
    assert [gates.find_worse(findings, exact=True) for findings in as_good] == [[], [], []]
    longer = make_findings(list_tokens=101, list_characters=101, error_tokens_median=104)
    characters = "loans: list_characters is 101, recorded is 100."
    assert gates.find_worse(longer, exact=False) == [characters]
    assert gates.find_worse(longer, exact=True) == [
        "loans: list_tokens is 101, recorded is 100.",
        characters,
        "loans: error_tokens_median is 104, recorded is 100.",
    ]
    assert gates.find_worse(make_findings(ends=(SILENT, UNMENDED), accepted=False), exact=True) == [
        "loans: orders_list: mistake 0 (silently wrong).",
        "loans: orders_list (arguments made from its schema are refused).",
    ]


def test_there_are_enough_entries_and_none_twice():
    for name, least in LEAST.items():
        entries = json.loads((DATA / f"{name}.json").read_text())
        assert set(entries) == {"shop", "library", "loans"}
        texts = [json.dumps(entry) for subject in entries.values() for entry in subject]
        assert len(texts) >= least, name
        assert len(set(texts)) == len(texts), name


def test_every_fault_names_the_correct_reaction():
    faults = json.loads((DATA / "faults.json").read_text())
    for fault in (fault for subject in faults.values() for fault in subject):
        assert {"right", "then", "stop"} & fault.keys(), fault


def test_arguments_made_from_a_schema_are_valid():
    for seed in map(str, range(20)):
        arguments = Generator(seed).make_arguments(SCHEMA, share=0.7)
        Draft202012Validator(SCHEMA).validate(arguments)
        assert arguments == Generator(seed).make_arguments(SCHEMA, share=0.7)


def test_a_date_of_a_pattern_equals_that_of_a_format():
    for pattern, name in (
        (r"^\d{4}-[01]\d-[0-3]\d$", "date"),
        (r"^\d{4}-(0[1-9]|1[0-2])-\d\d$", "date"),
        (r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$", "date-time"),
    ):
        made = Generator("a").make({"type": "string", "pattern": pattern})
        assert made == Generator("b").make({"type": "string", "format": name}), pattern


def test_a_pattern_that_matches_other_texts_gets_no_date():
    for pattern in (r"^[-\w]+$", r"^[\d-]+$", "^[^/]+$"):
        schema = {"type": "string", "pattern": pattern}
        assert len({Generator(str(seed)).make(schema) for seed in range(5)}) > 1, pattern


def test_a_pattern_that_no_text_matches_is_an_error():
    with pytest.raises(ValueError, match=re.escape("(?!a)a")):
        Generator("").make({"type": "string", "pattern": "(?!a)a"})


def test_a_search_ranks_by_words_and_wrong_tools_before_right_ones_of_equal_score():
    search = Search(TOOLS)
    assert search.rank("Refund an order, give the money back", ["orders_refund"])[0] == 1
    assert search.rank("List them", ["orders_refund"]) == (2, "orders_list")
    assert search.rank("Weather tomorrow", ["orders_refund"])[0] == 2


@pytest.mark.parametrize(
    ("sent", "refusal", "corrected"),
    [
        ({"state": "paid"}, ("state", "unknown", "Unknown argument."), {"status": "paid"}),
        ({"status": "Shipped"}, ("status", "invalid_choice", "No."), {"status": "shipped"}),
        ({"rows": 50}, ("rows", "max_value", "At most 20."), {"rows": 20}),
        ({"code": "se"}, ("code", "invalid", "Two capital letters."), {"code": "SE"}),
        (
            {"due": "March 3, 2026"},
            ("due", "invalid", "Wrong format.", "a date (YYYY-MM-DD)"),
            {"due": "2026-03-03"},
        ),
        ({"weather": 1}, ("weather", "unknown", "Unknown argument."), {}),
    ],
)
def test_the_agent_corrects_the_argument_that_the_error_names(sent, refusal, corrected):
    tools = {"orders_list": {**TOOLS["orders_list"], "inputSchema": {**SCHEMA, "required": []}}}
    step = Repair(tools, "orders_list", sent, refuse(*refusal), {}).find_step()
    assert step.arguments == corrected


def test_the_agent_uses_the_users_value_only_for_the_argument_that_the_error_names():
    knows = {"rows": 5, "status": "paid"}
    result = refuse("rows", "invalid", "A valid integer is required.")
    step = Repair(TOOLS, "orders_list", {"rows": "few"}, result, knows).find_step()
    assert step.arguments == {"rows": 5}


def test_the_agent_stops_at_a_final_error_and_calls_a_tool_that_the_error_names():
    refused = refuse("", "", "You may not.", kind="authorization")
    assert Repair(TOOLS, "orders_list", {"rows": 1}, refused, {}).find_step().arguments is None
    named = refuse("", "", "Use orders_refund.", kind="not_found")
    step = Repair(TOOLS, "orders_list", {"rows": 1}, named, {}).find_step()
    assert (step.arguments, step.tools) == (None, frozenset({"orders_refund"}))


def test_the_agent_reads_a_warning_as_it_reads_an_error():
    knows = {"status": "paid", "rows": 5}
    said = TextAnswer("No rows: 'status' may be another. orders_refund lists more.")
    step = Repair(TOOLS, "orders_list", {"status": "shipped"}, said, knows).find_step()
    assert (step.arguments, step.tools) == (None, frozenset({"orders_refund"}))
    said = TextAnswer("No rows: 'status' may be another.")
    step = Repair(TOOLS, "orders_list", {"status": "shipped"}, said, knows).find_step()
    assert (step.arguments, step.tools) == ({"status": "paid"}, frozenset())


class Answering:
    """An endpoint that answers one code with rows, and other codes with no rows and a warning."""

    tools = TOOLS
    package = "drf_mcp"

    def try_call(self, tool: str, arguments: dict) -> ToolResult:
        rows = [1] if arguments == {"code": "SE"} else []
        warnings = [] if rows else self.warnings
        meta = {"version": "response-v2", "request_id": "req_1", "warnings": warnings}
        envelope = {"success": True, "data": {"results": rows}, "error": None, "meta": meta}
        text = json.dumps(envelope)
        return ToolResult(
            {"content": [{"type": "text", "text": text}], "structuredContent": envelope}
        )


@pytest.mark.parametrize(
    ("warning", "known", "end"),
    [
        ("Another 'code' has rows.", {"code": "SE"}, MENDED),
        ("Another 'code' has rows.", {"code": "DK"}, UNMENDED),
        ("Nothing was found.", {"code": "SE"}, UNMENDED),
        ("orders_refund lists those that exist.", {}, MENDED),
        ("", {"code": "SE"}, SILENT),
    ],
)
def test_an_answer_with_a_warning_is_mended_only_if_the_next_call_is_right(warning, known, end):
    endpoint = Answering()
    endpoint.warnings = [warning] if warning else []
    fault = {"tool": "orders_list", "arguments": {"code": "NO"}, "right": {"code": "SE"}}
    fault |= {"knows": known, **({"then": ["orders_refund"]} if not known else {})}
    assert Faults(endpoint).judge(fault, endpoint).end == end


def test_arguments_are_made_from_examples_in_the_description():
    words = "Where. One of 249 values, such as AD, AE, AF. May be null."
    schema = {"type": "string", "description": words}
    assert Generator("x").make(schema) in {"AD", "AE", "AF"}
    words = "One of 51 values, such as 7, 8."
    assert Generator("x").make({"type": "integer", "description": words}) in {7, 8}


def test_tokens_are_estimated_without_an_encoder(monkeypatch):
    monkeypatch.setattr(Tokens, "has_tiktoken", lambda self: False)
    monkeypatch.setattr(Tokens, "has_node", lambda self: False)
    tokens = Tokens()
    assert not tokens.exact
    assert tokens.count_each(["hello world", ""]) == {"hello world": 2, "": 0}
