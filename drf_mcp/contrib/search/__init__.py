# Finds tools, and the two that run others.
SEARCH, READ, WRITE = SEARCH_TOOLS = ("tools_search", "tools_read", "tools_write")
