"""The settings of the tests, with PUT among the tools: parity is that of every method."""

from tests.settings import *  # noqa: F403
from tests.settings import DRF_MCP

DRF_MCP = {**DRF_MCP, "INCLUDE": ["PUT *"]}
