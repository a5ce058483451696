"""The shop with its browsable page on a real server, and a real browser."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.programs.browser.browser import chromium, log_in, program
from tests.programs.browser.watched import Watched
from tests.programs.interop.conftest import NODE_MODULES, REQUIRE_NODE
from tests.programs.interop.servers import RunningServer, Shop, running

# If this variable is 1, tests that need a browser fail without one instead of being skipped.
REQUIRE_CHROMIUM = "DRF_MCP_REQUIRE_CHROMIUM"


def skip_or_fail(reason: str, required: str) -> None:
    if os.environ.get(required) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def axe() -> str:
    source = NODE_MODULES / "axe-core" / "axe.min.js"
    if not source.exists():
        skip_or_fail(
            f"axe-core is not installed in {NODE_MODULES.parent}: run make node", REQUIRE_NODE
        )
    return source.read_text()


@pytest.fixture(scope="session")
def shop_page(tmp_path_factory) -> Iterator[RunningServer]:
    if program() is None:
        skip_or_fail("Chromium is not installed: apt-get install chromium", REQUIRE_CHROMIUM)
    folder = tmp_path_factory.mktemp("page")
    shop = Shop(folder / "shop.sqlite3", "tests.programs.browser.settings")
    shop.seed()
    with running("uvicorn", shop, folder / "log") as server:
        yield server


# Not for the whole session: while Playwright runs, this thread counts as asynchronous, and Django
# refuses database access to every test.
@pytest.fixture(scope="module")
def browser(shop_page):
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def session_of(browser, shop_page) -> Callable[[str | None], Any]:
    @functools.cache
    def session(username: str | None) -> Any:
        if username is None:
            return None
        page = browser.new_page()
        log_in(page, shop_page.url, username)
        cookies = page.context.storage_state()
        page.close()
        return cookies

    return session


@pytest.fixture
def visit(browser, shop_page, session_of) -> Iterator[Callable[..., Watched]]:
    """Open a page in its own browser context: ``visit(\"alice\", \"?tool=stats\")``.

    Errors and warnings that a page logs fail the test.
    """
    opened: list[Watched] = []

    def open_page(username: str | None, query: str = "", **options) -> Watched:
        size = options.pop("viewport", {"width": 1280, "height": 860})
        cookies = session_of(username)
        # axe-core cannot measure the contrast of a colour that fades.
        still = {"reduced_motion": "reduce", "storage_state": cookies}
        context = browser.new_context(viewport=size, **still, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        watched = Watched(context.new_page())
        opened.append(watched)
        watched.page.goto(shop_page.url + query)
        return watched

    yield open_page
    for watched in opened:
        watched.page.context.close()
    assert [watched.complaints for watched in opened if watched.complaints] == []
