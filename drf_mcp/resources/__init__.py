"""Resources: what tools read, and documents of the project, by URIs."""

from drf_mcp.resources.documents import Document, SchemaDocument

__all__ = ["Document", "SchemaDocument"]
