"""The settings of the tests, with PUT among the tools, as all methods are compared."""

from tests.settings import *  # noqa: F403
from tests.settings import DRF_MCP

DRF_MCP = {**DRF_MCP, "INCLUDE": ["PUT *"]}
