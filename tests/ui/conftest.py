from __future__ import annotations

from tests.prompts.conftest import serve

__all__ = ["serve"]
