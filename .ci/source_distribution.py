"""A hook of hatchling, which would add .gitignore to every source distribution."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WithoutGitignore(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        files = build_data["force_include"]
        build_data["force_include"] = {k: v for k, v in files.items() if v != ".gitignore"}
