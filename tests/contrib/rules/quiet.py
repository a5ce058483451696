from drf_mcp.contrib.rules.feature import RulesFeature
from drf_mcp.features import Feature


class QuietRules(Feature):
    """The settings of the app alone."""

    settings = RulesFeature.settings
