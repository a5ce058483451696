"""The project as an authorization server for agents, on django-oauth-toolkit.

Needs ``pip install "drf-mcp-server[oauth]"``. See docs/sign_in_own.md.
"""

from drf_mcp.contrib.oauth.defaults import AGENTS as AGENTS
