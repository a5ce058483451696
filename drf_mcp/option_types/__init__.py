"""What settings and options take: each kind of value says so in words and looks at values."""

from __future__ import annotations

from drf_mcp.option_types.base import Kind, refuse_wrong_values, shown
from drf_mcp.option_types.classes import Class, InstanceOf, Middleware, PermissionClass
from drf_mcp.option_types.collections import Either, ListOf, MappingOf, Words
from drf_mcp.option_types.values import (
    CacheAlias,
    Choice,
    Flag,
    Function,
    Number,
    Origin,
    Text,
    ToolPattern,
)

__all__ = [
    "CacheAlias",
    "Choice",
    "Class",
    "Either",
    "Flag",
    "Function",
    "InstanceOf",
    "Kind",
    "ListOf",
    "MappingOf",
    "Middleware",
    "Number",
    "Origin",
    "PermissionClass",
    "Text",
    "ToolPattern",
    "Words",
    "refuse_wrong_values",
    "shown",
]
