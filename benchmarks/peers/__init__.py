"""The same operations by drf_mcp, by other packages over the same project, and by plain HTTP."""
