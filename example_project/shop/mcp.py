"""What the shop offers to agents; drf_mcp imports this module when Django starts.

``stats``, ``quote`` and ``status`` are decorated where they are written, in ``views``.
"""

from __future__ import annotations

from drf_mcp import registry
from example_project.shop.urls import router
from example_project.shop.views import (
    CustomerOrderViewSet,
    OrderViewSet,
    TicketDetail,
    TicketList,
)

registry.register(router)
registry.register(CustomerOrderViewSet)
# An order has lines inside it, which an example shows best.
registry.register(
    OrderViewSet,
    actions=["create"],
    examples=[{"customer": 1, "lines": [{"product": "cast-iron-pan", "quantity": 2}]}],
)
# Anybody may open a ticket, and a model reads it with the rights of somebody else. Several are
# read in one call.
registry.register(TicketList, untrusted=["subject", "body"])
registry.register(TicketDetail, many=True, untrusted=["subject", "body"])
