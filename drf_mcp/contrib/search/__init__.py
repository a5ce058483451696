SEARCH_TOOLS = ("tools_search", "tools_read", "tools_write")
