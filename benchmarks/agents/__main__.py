"""``python -m benchmarks.agents``: how well an agent gets on with the list and the errors."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import django

DEFAULT_OUTPUT = Path("build") / "agents.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure in a database in memory; return 1 where a figure became worse than recorded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument("--attempts", type=int, default=5, help="first attempts of each tool")
    parser.add_argument(
        "--every", type=int, default=1, help="a sample: every so many faults, tasks"
    )
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="where the JSON goes")
    parser.add_argument("--details", action="store_true", help="print what went wrong, too")
    parser.add_argument("--record", action="store_true", help="record the figures as the gates")
    asked = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.agents.settings"
    django.setup()
    fill_database()
    return judge(asked)


def fill_database() -> None:
    from benchmarks.__main__ import seed
    from benchmarks.agents.loans.seeding import seed_loans

    seed()
    seed_loans()


def judge(asked: argparse.Namespace) -> int:
    from benchmarks.agents import report
    from benchmarks.agents.judge import Gates, Judge

    judge = Judge(asked.attempts, asked.every)
    gates = Gates()
    all_findings = judge.run()
    lines = list(report.make_table(all_findings, judge.tokens.encoder))
    if asked.details:
        lines += [line for each in all_findings for line in ["", *report.describe_findings(each)]]
    if asked.record:
        for each in all_findings:
            gates.record(each)
    exact = judge.tokens.exact
    worse = [line for each in all_findings for line in gates.find_worse(each, exact)]
    content = {
        "encoder": judge.tokens.encoder,
        "projects": [report.make_json(each) for each in all_findings],
        "worse": worse,
    }
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write("\n".join([*lines, "", *worse, f"Everything: {asked.output}", ""]))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
