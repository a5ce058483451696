"""Typed clients of the tools, in Python and TypeScript."""
