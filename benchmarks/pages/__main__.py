"""The endpoint's page, the MCP Inspector and Swagger UI: a person's ten tasks, counted.

    pip install drf-spectacular-sidecar     # and `make node`, and Chromium
    python -m benchmarks.pages
    python -m benchmarks.pages read refund  # some of the tasks

All three show the same shop. One run takes two minutes; only the seconds differ between machines.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.pages.hands import SECONDS_TO_ANSWER, Effort, Hands
from benchmarks.pages.inspector import Inspector, running_inspector
from benchmarks.pages.own_page import OwnPage
from benchmarks.pages.swagger import Swagger
from benchmarks.pages.tasks import TASKS, USER
from tests.programs.browser.browser import chromium
from tests.programs.interop.servers import Shop, running


def run(contestant: Any, names: Iterable[str]) -> dict[str, Effort]:
    """Do each task in a new tab; only `copy` goes on in the tab of `read`."""
    done: dict[str, Effort] = {}
    last: Hands | None = None
    for name in names:
        if name == "sign_in":
            hands = contestant.open_stranger()
        elif name == "copy" and last:
            hands = Hands(last.page)
        else:
            hands = contestant.open()
        hands.page.set_default_timeout(SECONDS_TO_ANSWER * 1000)
        done[name] = hands.measure(getattr(contestant, name))
        if last and last.page != hands.page:
            last.page.close()
        last = hands
    return done


def write(effort: Effort) -> str:
    if not effort.done:
        return "cannot"
    wrong = f", **{effort.mistakes} wrong**" if effort.mistakes else ""
    return f"{effort.clicks} + {effort.keys}, {effort.seconds:.1f} s{wrong}"


def write_table(results: dict[str, dict[str, Effort]], names: Iterable[str]) -> Iterator[str]:
    yield f"| Clicks + keys | {' | '.join(results)} |"
    yield "|---|" + "---|" * len(results)
    for name in names:
        cells = (write(efforts[name]) for efforts in results.values())
        yield f"| {TASKS[name]} | {' | '.join(cells)} |"


def main(names: list[str]) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shop = Shop(folder / "shop.sqlite3", "benchmarks.pages.settings")
        shop.seed()
        documented = Shop(shop.database, "benchmarks.pages.swagger_settings")
        server = stack.enter_context(running("uvicorn", shop, folder / "log"))
        documentation = stack.enter_context(running("uvicorn", documented, folder / "docs.log"))
        token = shop.tokens[USER]
        address = stack.enter_context(running_inspector(server.url, token, folder))
        browser = stack.enter_context(chromium())
        contestants = [
            OwnPage(browser, server.url),
            Inspector(browser, address, token),
            Swagger(browser, documentation.url.removesuffix("/mcp")),
        ]
        table = write_table({each.name: run(each, names) for each in contestants}, names)
        sys.stdout.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main([name for name in TASKS if name in sys.argv[1:] or not sys.argv[1:]])
