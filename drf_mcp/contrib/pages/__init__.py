"""Pages that hosts show next to the results of tools (the extension MCP Apps)."""
