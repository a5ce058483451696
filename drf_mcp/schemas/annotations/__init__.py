"""What people wrote about an endpoint, for drf-spectacular or by ``@mcp_tool``."""
