"""``python -m benchmarks.agents``: how well an agent works from a list of tools and its errors."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import django

from benchmarks.agents.fetched import FETCHED

DEFAULT_OUTPUT = Path("build") / "agents.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure in a database in memory; return 1 where a figure is worse than recorded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument(
        "--attempts", type=int, default=5, help="the number of first attempts of each tool"
    )
    parser.add_argument(
        "--every", type=int, default=1, help="score only each EVERY-th fault and task"
    )
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="the file for the JSON")
    parser.add_argument("--details", action="store_true", help="print each failure")
    parser.add_argument(
        "--record", action="store_true", help="record the figures, which later runs must reach"
    )
    parser.add_argument("--project", help=f"score only this project; also {' or '.join(FETCHED)}")
    parser.add_argument("--path", type=Path, help="the folder of the fetched project")
    parser.add_argument(
        "--compare",
        choices=["fastmcp"],
        help="score another package too",
    )
    parser.add_argument("--before", type=Path, help="the JSON of an earlier run, for a column")
    parser.add_argument("--checkout", type=Path, help="score the package in another checkout")
    parser.add_argument("--markdown", type=Path, help="another file for the tables")
    parser.add_argument("--transcript", metavar="WORDS", help="print each message of one task")
    parser.add_argument("--search", action="store_true", help="score only tools_search")
    parser.add_argument("--programs", action="store_true", help="run only tasks in one program")
    parser.add_argument("--ways", action="store_true", help="run only tasks of several steps")
    asked = parser.parse_args(arguments)
    set_up(asked)
    if asked.search:
        return search(asked)
    if asked.programs:
        return run_programs()
    if asked.ways:
        return run_ways(asked)
    return show_transcript(asked) if asked.transcript else judge(asked)


def set_up(asked: argparse.Namespace) -> None:
    """Configure this process for the project, and fill its database."""
    if asked.checkout:
        sys.path.insert(0, str(asked.checkout.absolute()))
    fetched = FETCHED.get(asked.project)
    if fetched is not None:
        fetched.prepare(asked.project, asked.path)
    else:
        os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.agents.settings"
    django.setup()
    if fetched is not None:
        fetched.fill_database(asked.project)
    else:
        fill_database()


def fill_database() -> None:
    from benchmarks.__main__ import seed
    from benchmarks.agents.domains.seeding import seed_domains
    from benchmarks.agents.loans.seeding import seed_loans

    seed()
    seed_loans()
    seed_domains()


def search(asked: argparse.Namespace) -> int:
    from benchmarks.agents import finding
    from benchmarks.agents.projects import find_projects
    from benchmarks.agents.tokens import Tokens

    every = finding.search_all(*([find_projects(asked.project)] if asked.project else []))
    tokens = Tokens()
    pairs = finding.do_all(*([find_projects(asked.project)] if asked.project else []))
    lines = [*finding.make_lines(every, tokens), "", *finding.compare(pairs, tokens)]
    if asked.details:
        lines += ["", *finding.describe_misses(every)]
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


def run_programs() -> int:
    from benchmarks.agents.programs import compose_all, make_lines

    every = compose_all()
    sys.stdout.write("\n".join([*make_lines(every), ""]))
    return int(any(any(each.failures) for each in every))


def run_ways(asked: argparse.Namespace) -> int:
    from benchmarks.agents.tokens import Tokens
    from benchmarks.agents.ways import do_all, make_lines

    every = do_all(bool(asked.compare))
    sys.stdout.write("\n".join([*make_lines(every, Tokens()), ""]))
    return 0


def show_transcript(asked: argparse.Namespace) -> int:
    from benchmarks.agents.projects import find_projects
    from benchmarks.agents.transcript import Transcript

    for project in find_projects(asked.project):
        with project.serving():
            lines = list(Transcript(project, asked.transcript).write())
        if lines:
            sys.stdout.write("\n".join([*lines, ""]))
            return 0
    sys.stderr.write(f"No task has the words {asked.transcript}.\n")
    return 1


def judge(asked: argparse.Namespace) -> int:
    from benchmarks.agents import report
    from benchmarks.agents.comparison import make_tables
    from benchmarks.agents.judge import Gates, Judge
    from benchmarks.agents.projects import find_projects

    judge = Judge(asked.attempts, asked.every)
    gates = Gates()
    all_findings = judge.run(find_projects(asked.project), bool(asked.compare))
    content = {
        "encoder": judge.tokens.encoder,
        "projects": [report.make_json(each) for each in all_findings],
    }
    before = json.loads(asked.before.read_text()) if asked.before else {}
    compared = asked.compare or before
    table = report.make_table(all_findings, judge.tokens.encoder)
    lines = list(make_tables(content, before) if compared else table)
    if asked.markdown:
        asked.markdown.write_text("\n".join([*lines, ""]))
    if asked.details:
        lines += [line for each in all_findings for line in ["", *report.describe_findings(each)]]
    own = [] if asked.compare or asked.project else all_findings
    if asked.record:
        for each in own:
            gates.record(each)
    exact = judge.tokens.exact
    worse = [line for each in own for line in gates.find_worse(each, exact)]
    content["worse"] = worse
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write("\n".join([*lines, "", *worse, f"Everything: {asked.output}", ""]))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
