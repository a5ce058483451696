"""``python -m tests.fuzz``: mutate 20,000 messages, send them, and count the answers.

Exits with 1 if an answer has a fault. A seed always gives the same inputs.
"""

from __future__ import annotations

import argparse
import os
import sys

import django


def main() -> int:
    """Fuzz the example project in a database in memory, which is dropped."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=0, help="of which they are made")
    parser.add_argument("--input", type=int, help="the number of one input, to show it whole")
    asked = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from tests.fuzz.driver import Fuzz, planted_project
    from tests.oracles.watching import Watch

    connection.creation.create_test_db(verbosity=0)
    call_command("seed", verbosity=0)
    watch = Watch()
    with watch.watching(), planted_project():
        fuzz = Fuzz(asked.seed, watch)
        if asked.input is not None:
            sent = fuzz.mutator.draw(asked.input)
            answer, faults = fuzz.try_input(sent)
            sys.stdout.write(f"{sent}\n\n{answer}\n\n{faults}\n")
            return bool(faults)
        report = fuzz.run(range(asked.count))
    sys.stdout.write("\n".join(report.lines()) + "\n")
    return bool(report.faults)


if __name__ == "__main__":
    sys.exit(main())
