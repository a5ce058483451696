"""``python -m tests.programs.conformance`` runs the suite in every revision and prints the counts.

``--missing`` names the scenarios that do not pass, ``--server gunicorn`` serves by WSGI.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.programs.conformance.suite import REVISIONS, run, serving

show = partial(print, flush=True)


def main() -> int:
    """Print a line for each revision, and one for its scenarios that are not required."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.conformance", description=__doc__
    )
    parser.add_argument("--server", choices=["uvicorn", "gunicorn"], default="uvicorn")
    parser.add_argument("--missing", action="store_true", help="name what does not pass")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(options.server, Path(folder)) as url:
        for revision in REVISIONS:
            for counted, passed in run(revision, url).items():
                show(f"{revision} {counted}: {sum(passed.values())} of {len(passed)}")
                missing = [name for name in passed if not passed[name]]
                if options.missing and missing:
                    show(f"    not: {', '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
