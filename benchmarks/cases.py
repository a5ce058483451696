"""The comparisons: requests of everyday work, and costs that grow with the project."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

from django.apps import apps
from django.conf import settings
from django.urls import include, path
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet

from benchmarks.comparing import Comparison
from benchmarks.requests import Client, Server
from benchmarks.urls import LONG_ANSWERS, nothing
from drf_mcp.contrib.audit.auditor import Auditor, RecordBatch
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import registry
from drf_mcp.views import MCPView
from example_project.shop.models import Customer, Order
from example_project.shop.serializers import CustomerSerializer, OrderSerializer

TOOLS_PER_VIEWSET = 5
LONG_PAGE = {"search": "exception", "page_size": 20}
CUSTOMER = {"name": "Benchmark", "email": "benchmark@example.com", "country": "SE"}


def cases(server: Server, tool_counts: Sequence[int]) -> Iterator[Comparison]:
    """Yield all comparisons; each is made when it is reached.

    Args:
        server: the server, whose database has rows.
        tool_counts: the numbers of tools of the generated projects.
    """
    alice = Client.of("alice")
    yield from everyday(alice)
    yield from lists(alice, tool_counts)
    yield from audits(alice)
    yield from budgets(alice)
    yield from long_answers(alice)
    yield retrieval(server, alice)


def everyday(alice: Client) -> Iterator[Comparison]:
    """Yield tool calls, each with the plain request that does the same."""
    pk = Customer.objects.filter(owner__username="alice").values_list("pk", flat=True)[0]
    page, customers = {"page_size": 20}, "/api/customers/"
    yield Comparison(
        "customers_retrieve",
        alice.plain("GET", f"{customers}{pk}/"),
        alice.call("customers_retrieve", {"id": pk}),
    )
    yield Comparison(
        "customers_list, 20 rows",
        alice.plain("GET", customers, query=page),
        alice.call("customers_list", page),
    )
    yield Comparison(
        "orders_list, 20 rows, nested",
        alice.plain("GET", "/api/orders/", query=page),
        alice.call("orders_list", page),
    )
    for name, body in (
        ("customers_create", CUSTOMER),
        ("customers_create, refused", {**CUSTOMER, "email": "nobody"}),
    ):
        yield Comparison(
            name,
            alice.plain("POST", customers, body=body),
            alice.call("customers_create", body),
        )


def page_over_budget(alice: Client) -> Comparison:
    """Return a page whose last rows exceed the budget, with the same plain request."""
    page = {"page_size": 100}
    return Comparison(
        "orders_list, 100 rows, over the budget",
        alice.plain("GET", "/api/orders/", query=page),
        alice.call("orders_list", page),
    )


def lists(alice: Client, tool_counts: Sequence[int]) -> Iterator[Comparison]:
    """Yield ``tools/list``, compared with a view that does nothing."""
    plain = alice.plain("GET", "/nothing/")
    yield Comparison("tools/list", plain, alice.listing())
    for count in tool_counts:
        generated = {"ROOT_URLCONF": project(count), "DRF_MCP": {"EXPOSE": "urlconf"}}
        first = alice.listing(settings=generated, before=registry.reload)
        yield Comparison(f"tools/list, {count} tools, first time", plain, first, rounds=1)
        again = alice.listing(settings=generated)
        yield Comparison(f"tools/list, {count} tools, again", plain, again, rounds=10)


def budgets(alice: Client) -> Iterator[Comparison]:
    """Yield results within the budget, compared with no budget, and a result over it."""
    for name, arguments in (
        ("customers_list", {"page_size": 20}),
        ("orders_list", {"page_size": 5}),
    ):
        yield Comparison(
            f"{name} within the budget, against none",
            alice.call(name, arguments, settings=budget(None)),
            alice.call(name, arguments, settings=budget(10_000)),
        )
    yield Comparison(
        "documents_texts, 20 long documents, over the budget",
        alice.plain("GET", "/api/library/documents/texts/", query=LONG_PAGE),
        alice.call("documents_texts", LONG_PAGE),
        rounds=10,
    )


class WaitingAuditor(Auditor):
    """Keeps rows for a thread that never writes: a measurement is a transaction of this thread."""

    def keep(self, record: Any) -> None:
        if mcp_settings.AUDIT_STRICT:
            super().keep(record)
        else:
            self.batch.add(record)

    def write(self, records: Sequence[Any]) -> Sequence[Any]:
        return ()

    @cached_property
    def batch(self) -> RecordBatch:
        # The cost of starting a thread now and then is not part of each call.
        batch = RecordBatch(self.write)
        batch.thread = threading.current_thread()
        return batch


def audits(alice: Client) -> Iterator[Comparison]:
    """Yield calls with audit, compared with the same calls without it."""
    config = apps.get_app_config("drf_mcp_audit")

    def switch(recording: bool) -> Callable[[], None]:
        auditor = WaitingAuditor() if recording else None
        return lambda: setattr(config, "auditor", auditor)

    page = {"page_size": 20}
    for name, own in (
        ("customers_list audited, against not", {}),
        ("customers_list audited in strict mode, against not", {"AUDIT_STRICT": True}),
    ):
        served = {"DRF_MCP": {**settings.DRF_MCP, **own}}
        yield Comparison(
            name,
            alice.call("customers_list", page, settings=served, before=switch(False)),
            alice.call("customers_list", page, settings=served, before=switch(True)),
        )
    switch(False)()


def long_answers(alice: Client) -> Iterator[Comparison]:
    """Yield shortened answers of megabytes, compared with the same whole answers over HTTP."""
    served = {"DRF_MCP": {**settings.DRF_MCP, "EXPOSE": "urlconf", "INCLUDE": ["/long/*"]}}
    for kind in LONG_ANSWERS:
        yield Comparison(
            f"{kind}, megabytes, over the budget",
            alice.plain("GET", f"/long/{kind}/", settings=served),
            alice.call("long", {"kind": kind}, settings=served),
            rounds=3,
        )


def retrieval(server: Server, alice: Client) -> Comparison:
    """Return ``content_retrieve``, compared with the page that the content is of over HTTP."""
    # Not rolled back, because the archived content has to stay.
    _, content = server.answer(alice.call("documents_texts", LONG_PAGE).environment())
    (archive_id,) = json.loads(content)["result"]["structuredContent"]["meta"][
        "content_archive_hashes"
    ]
    asked = {"archive_id": archive_id, "ids": ["results[0].text"]}
    return Comparison(
        "content_retrieve, one document",
        alice.plain("GET", "/api/library/documents/texts/", query=LONG_PAGE),
        alice.call("content_retrieve", asked),
    )


def budget(limit: int | None) -> dict[str, Any]:
    """Return settings with this budget."""
    return {"DRF_MCP": {**settings.DRF_MCP, "MAX_RESULT_TOKENS": limit}}


def project(tools: int) -> ModuleType:
    """Return the URLconf of a project with this many tools, a multiple of ten."""
    router = SimpleRouter()
    for number in range(tools // TOOLS_PER_VIEWSET):
        orders = number % 2 == 0
        members = {
            "__doc__": f"Things of kind {number}.",
            "queryset": (Order if orders else Customer).objects.all(),
            "serializer_class": OrderSerializer if orders else CustomerSerializer,
            "http_method_names": ["get", "post", "put", "delete"],
        }
        viewset = type(f"Things{number}", (ModelViewSet,), members)
        router.register(f"things-{number}", viewset, basename=f"things-{number}")
    module = ModuleType(f"benchmarks.project_of_{tools}")
    module.urlpatterns = [  # type: ignore[attr-defined]
        path("mcp", MCPView.as_view()),
        path("api/", include(router.urls)),
        path("nothing/", nothing),
    ]
    return module
