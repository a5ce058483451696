"""The shop on two sites, which are started once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.services.client import TASKS, Client
from tests.services.machines import SOCKETS, Machines, wait_until


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.parent.name == "services"]
    if not SOCKETS:
        for item in here:
            item.add_marker(pytest.mark.skip(reason="make test-services runs these tests"))


@pytest.fixture(scope="session")
def machines(tmp_path_factory) -> Iterator[Machines]:
    with Machines(tmp_path_factory.mktemp("machines")).running() as machines:
        yield machines


@pytest.fixture(params=["gunicorn", "uvicorn"])
def here(request) -> str:
    """The site of the first call; the test goes on at the other site."""
    return request.param


@pytest.fixture
def there(machines, here) -> str:
    return machines.other[here]


@pytest.fixture
def client_at(machines) -> Iterator[Callable[..., Client]]:
    """Clients: ``client_at("gunicorn", "alice")`` sends her token to that site."""
    with ExitStack() as stack:

        def client(site: str, user: str = "admin", **options) -> Client:
            options = {"token": machines.tokens[user], **options}
            client = Client(machines.sites[site].url, **options)
            stack.callback(client.close)
            return client

        yield client


@pytest.fixture
def make_task(client_at) -> Callable[[str, str], Any]:
    """Creates a task at one site and reads its result at another."""

    def make(here: str, there: str) -> Any:
        options = {"capabilities": {"extensions": {TASKS: {}}}}
        called = {"name": "orders_export", "arguments": {}}
        task = client_at(here, **options).request("tools/call", **called)
        asking = client_at(there, **options)

        def find_result() -> Any:
            found = asking.request("tasks/get", taskId=task["taskId"])
            return found if found["status"] == "completed" else None

        return wait_until(find_result)["result"]["structuredContent"]["data"]

    return make
