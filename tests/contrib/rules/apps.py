from drf_mcp.contrib.rules.apps import RulesConfig


class QuietRulesConfig(RulesConfig):
    """The app without its feature, which only the tests of rules switch on."""

    mcp_features = ("tests.contrib.rules.quiet.QuietRules",)
