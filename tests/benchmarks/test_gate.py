"""The gate of the benchmarks: its verdicts on figures that moved. It measures nothing here."""

from __future__ import annotations

import json

import pytest

from benchmarks import cpu, gate, report, stages
from benchmarks.comparing import COUNTED, Cost, Figures, least
from benchmarks.recorded import Record

VERSIONS = {"Python": "3.13"}
RECORDED = {
    "a call": {"calls": 400, "calls, 1 door": 100, "statements": 2},
    "a list": {"bytes": 1000},
    "a file": {"kilobytes in use": 2000},
}


@pytest.fixture
def compare(tmp_path):
    """Compare the recorded figures, some of them changed, with the record."""
    record = Record(tmp_path / "recorded.json")
    record.write({"versions": VERSIONS, "figures": RECORDED})

    def judge(versions=VERSIONS, **moved):
        found = {
            subject: {**names, **moved.get(subject.split()[1], {})}
            for subject, names in RECORDED.items()
        }
        kept = {s: {n: v for n, v in names.items() if v is not None} for s, names in found.items()}
        lines, fails = gate.compare_with_record(Record(record.path), kept, versions)
        return [line for line in lines[2:] if line.startswith("|")], fails

    return judge


def test_figures_within_their_tolerance_pass(compare):
    assert compare() == ([], False)
    within = {"call": {"calls": 409, "calls, 1 door": 94}, "file": {"kilobytes in use": 2100}}
    within["list"] = {"bytes": 1009}
    assert compare(**within) == ([], False)


MOVED = {
    "| a call: calls | 400 | 410 | worse |": {"call": {"calls": 410}},
    "| a call: calls, 1 door | 100 | 107 | worse |": {"call": {"calls, 1 door": 107}},
    "| a call: statements | 2 | 3 | worse |": {"call": {"statements": 3}},
    "| a list: bytes | 1000 | 1010 | worse |": {"list": {"bytes": 1010}},
    "| a file: kilobytes in use | 2000 | 2101 | worse |": {"file": {"kilobytes in use": 2101}},
    "| a list: bytes | 1000 | None | not found |": {"list": {"bytes": None}},
    "| a list: calls | None | 9 | not recorded |": {"list": {"calls": 9}},
}


def test_a_figure_that_is_worse_or_missing_fails(compare):
    found = {row: compare(**moved) for row, moved in MOVED.items()}
    assert found == {row: ([row], True) for row in MOVED}


def test_a_better_figure_is_reported_and_passes(compare):
    rows, fails = compare(call={"statements": 1}, list={"bytes": 1010})
    assert rows[0] == "| a call: statements | 2 | 1 | better |"
    assert fails
    assert compare(call={"statements": 1}) == (rows[:1], False)


def test_with_another_python_calls_may_differ_and_statements_may_not(compare):
    assert compare({"Python": "3.14"}, call={"calls": 500}) == ([], False)
    assert compare({"Python": "3.14"}, call={"calls": 600, "statements": 3})[1]


def test_calls_over_their_bar_fail_whatever_was_recorded():
    within = {name: {"calls": most} for name, most in gate.MOST_CALLS.items()}
    assert gate.find_calls_over_bars(within) == ([], False)
    (line,), fails = gate.find_calls_over_bars({**within, "customers_create": {"calls": 331}})
    assert fails
    assert "331" in line
    assert "330" in line


def test_processor_time_over_its_bar_is_measured_again(monkeypatch):
    found = iter([(1.4, 1.0), (1.1, 1.0)])
    monkeypatch.setattr(cpu, "measure_once", lambda server, comparison: next(found))
    assert cpu.measure(None, None, 1.2) == (1.1, 1.0)


def test_the_least_count_of_several_requests_is_taken():
    """One of the requests may also delete the expired answers of the archive."""

    class OneCostsMore:
        counts = iter([8, *[7] * (COUNTED - 1)])

        def measured(self, request, count):
            return next(self.counts)

    assert least(OneCostsMore(), None, len) == 7


def test_the_record_holds_every_kind_of_figure():
    figures = json.loads(gate.PATH.read_text())["figures"]
    kinds = {name.replace(",", " ").split()[0] for names in figures.values() for name in names}
    assert kinds == {*gate.TOLERANCES, "statements"}


def test_every_stage_is_a_folder_or_module_of_the_package():
    assert [name for name in stages.STAGES if not (stages.PACKAGE / name).exists()] == []


def test_the_table_of_a_comparison_has_a_cell_for_each_heading():
    costs = [Cost(calls, 1, [0.5]) for calls in (100, 150)]
    *_, names, _ = report.heading()
    line = report.line(Figures("a call", *costs))
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[1:6] == ["a call", "1", "150", "100", "1.500"]
    assert line.count("|") == names.count("|")
