"""An app of its own: typed clients of the tools, in Python and TypeScript."""
