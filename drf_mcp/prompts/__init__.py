"""Prompts: templates that people pick, with arguments that are completed as they type."""

from drf_mcp.prompts.prompt import Prompt

__all__ = ["Prompt"]
