"""The lint, the lock file and further reports of ``mcp_tools``."""
