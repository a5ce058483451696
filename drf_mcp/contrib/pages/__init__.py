"""Pages that hosts show beside the results of tools (the extension MCP Apps)."""
