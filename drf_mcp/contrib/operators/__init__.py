"""An app of its own: the lint, the lock file and the reports of ``mcp_tools``."""
