from drf_mcp.contrib.rules.apps import RulesConfig


class QuietRulesConfig(RulesConfig):
    """The tables alone: rules are asked where a test is about them."""

    mcp_features = ()
