"""The same operations by drf_mcp, by other packages for the same project, and plain."""
