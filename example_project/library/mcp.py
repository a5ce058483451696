"""The library's own MCP endpoint: its eight tools, in a plain envelope.

The shop's endpoint serves them too, with all other tools of the example project.
"""

from __future__ import annotations

from drf_mcp.envelopes import PlainEnvelope
from drf_mcp.exposure import Registry
from drf_mcp.views import MCPView
from example_project.library.views import TAG

registry = Registry(include=[f"tag:{TAG}"])
endpoint = MCPView.as_view(registry=registry, envelope_class=PlainEnvelope)
