from __future__ import annotations

from drf_mcp.features import Feature
from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.kinds import Class

BUS = "drf_mcp.contrib.subscriptions.Bus"


class SubscriptionsFeature(Feature):
    settings = {
        # Carries news to clients that listen for lists that change and resources that are updated:
        # "drf_mcp.contrib.subscriptions.LocalBus" within one process,
        # "drf_mcp.contrib.subscriptions.postgresql.PostgreSQLBus" among any number, or your own
        # drf_mcp.contrib.subscriptions.Bus. None: no client can listen. See docs/subscriptions.md.
        "SUBSCRIPTION_BUS_CLASS": Setting(None, Class(BUS, none=True)),
    }
    capability_classes = ("drf_mcp.contrib.subscriptions.capability.SubscriptionsCapability",)
