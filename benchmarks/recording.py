"""``python -m benchmarks.recording``: make many calls at once, and count the audit records.

Uses a temporary SQLite file, or the PostgreSQL of ``.ci/with_services``. Exits with 1 if a record
is missing or differs from the answer to its caller.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from django.conf import settings

THREADS = 4


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recording", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--strict", action="store_true", help="set AUDIT_STRICT")
    asked = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    with tempfile.TemporaryDirectory() as folder:
        settings.DATABASES["default"] = get_database(Path(folder))
        settings.DRF_MCP["AUDIT_STRICT"] = asked.strict
        settings.ROOT_URLCONF = "example_project.urls"
        django.setup()
        from benchmarks.__main__ import seed

        seed()
        sys.exit(measure(asked.calls))


def get_database(folder: Path) -> dict[str, Any]:
    """Return the database: PostgreSQL if the environment names its folder of sockets."""
    if sockets := os.environ.get("DRF_MCP_TEST_POSTGRESQL"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": sockets,
            "NAME": "postgres",
            "USER": "postgres",
        }
    options = {"timeout": 60, "transaction_mode": "IMMEDIATE"}
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": folder / "shop.sqlite3",
        "OPTIONS": options,
    }


def measure(count: int) -> int:
    """Send the calls, compare the records, print the counts, and return the exit code."""
    from django.apps import apps
    from django.db import connection

    from benchmarks.requests import Server
    from drf_mcp.contrib.audit.auditor import Auditor
    from drf_mcp.contrib.audit.models import AuditedCall

    auditor = apps.get_app_config("drf_mcp_audit").auditor = Auditor()
    answered: Counter[str] = Counter()
    lock = threading.Lock()
    requests = list(make_requests(count))

    def work() -> None:
        server = Server()
        while True:
            with lock:
                if not requests:
                    break
                request = requests.pop()
            status, content = server.answer(request.environment())
            with lock:
                answered[describe(status, json.loads(content))] += 1
        connection.close()

    began = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    auditor.flush()
    seconds = time.perf_counter() - began
    recorded: Counter[str] = Counter()
    for verdict, code in AuditedCall.objects.values_list("verdict", "code").iterator():
        recorded[f"{verdict} {code}".strip()] += 1
    ids = AuditedCall.objects.exclude(request_id="").values("request_id").distinct().count()
    print_counts(answered, recorded)
    sys.stdout.write(
        f"{connection.vendor}, {THREADS} threads: {sum(answered.values())} answers, "
        f"{sum(recorded.values())} rows, {ids} request ids, {seconds:.1f} s\n"
    )
    return int(answered != recorded or sum(recorded.values()) != count)


def make_requests(count: int) -> Iterator[Any]:
    """Yield calls that succeed, fail in each way, and are denied."""
    from benchmarks.cases import CUSTOMER
    from benchmarks.requests import Client

    alice, nobody = Client.of("alice"), Client("wrong")
    kinds = [
        alice.call("customers_list", {"page_size": 1}),
        alice.call("customers_create", CUSTOMER),
        alice.call("customers_create", {**CUSTOMER, "email": "nobody"}),
        alice.call("customers_retrieve", {"id": 10**9}),
        alice.call("customers_list", {"page_sise": 1}),
        alice.call("customers_lst", {}),
        nobody.call("customers_list", {}),
    ]
    for number in range(count):
        yield kinds[number % len(kinds)]


def describe(status: int, answer: Any) -> str:
    """Return the verdict and the code that the record of an answer should have."""
    if status == 401:
        return "denied UNAUTHORIZED"
    if "error" in answer:
        return "failed UNKNOWN_TOOL"
    result = answer["result"]
    return (
        f"failed {result['structuredContent']['data']['error_code']}"
        if "isError" in result
        else "success"
    )


def print_counts(answered: Counter[str], recorded: Counter[str]) -> None:
    """Print both counts by verdict and code."""
    for name in sorted(answered | recorded):
        sys.stdout.write(f"{name:32} {answered[name]:6} answers {recorded[name]:6} rows\n")


if __name__ == "__main__":
    main()
