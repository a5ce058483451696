"""What the shop offers to agents; drf_mcp imports this module when Django starts.

``stats``, ``quote`` and ``status`` are decorated where they are written, in ``views``.
"""

from __future__ import annotations

from pathlib import Path

from drf_mcp import registry
from drf_mcp.contrib.resources import Document, SchemaDocument
from drf_mcp.contrib.skills import Skill
from example_project.shop import rules  # noqa: F401 - their decorators register them
from example_project.shop.prompts import complaint
from example_project.shop.serializers import OrderSerializer
from example_project.shop.urls import router
from example_project.shop.views import (
    CustomerOrderViewSet,
    CustomerViewSet,
    OrderViewSet,
    ProductViewSet,
    TicketDetail,
    TicketList,
)

# People attach the whole catalogue to a conversation, and orders and customers one by one.
registry.register(ProductViewSet, actions=["list"], resource=True)
registry.register(router)
registry.register(CustomerOrderViewSet)
# Deletions and deactivations have a dry run, as all changes of orders have.
registry.register(CustomerViewSet, actions=["destroy", "deactivate"], dry_run=True)
# An example shows best that an order has lines. A second call with the same key returns the same
# order.
registry.register(
    OrderViewSet,
    actions=["create"],
    idempotency_key=True,
    examples=[{"customer": 1, "lines": [{"product": "cast-iron-pan", "quantity": 2}]}],
)
# Hosts show the list as a table, and an order on a page of the shop. The form of refunds is
# declared at the action.
registry.register(OrderViewSet, actions=["list"], ui="table")
registry.register(OrderViewSet, actions=["retrieve"], ui="shop/order.html")
# Any user may open a ticket, and a model reads it with the permissions of another user. One call
# may read several tickets.
registry.register(TicketList, untrusted=["subject", "body"])
registry.register(TicketDetail, many=True, untrusted=["subject", "body"])

HERE = Path(__file__).parent
registry.add(
    Document("guides/returns", file=HERE / "guides" / "returns.md", title="How returns work"),
    SchemaDocument(OrderSerializer, title="An order, as it is placed"),
    complaint,
    *Skill.find(HERE / "skills"),
)
