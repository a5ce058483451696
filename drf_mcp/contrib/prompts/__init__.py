"""Prompts: templates that people pick, with arguments that are completed as they type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_mcp import import_on_use

if TYPE_CHECKING:
    from drf_mcp.contrib.prompts.prompt import Prompt

__all__ = ["Prompt"]
__getattr__ = import_on_use(__name__, {"Prompt": "prompt"})
