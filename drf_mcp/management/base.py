from __future__ import annotations

import json
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from rest_framework.exceptions import APIException

from drf_mcp.dispatch.errors.body import ErrorBody

# The exit code of a command that could not do what it was asked.
USAGE = 2
ANONYMOUS = "anonymous"
DEFAULT_ORIGIN = "http://127.0.0.1:8000"


class UsageError(CommandError):
    """A command cannot do what it was asked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"returncode": USAGE, **kwargs})


class MCPCommand(BaseCommand):
    def get_user(self, username: str | None) -> Any:
        if username is None:
            return None
        users = get_user_model()
        try:
            return users._default_manager.get_by_natural_key(username)
        except users.DoesNotExist:
            raise UsageError(f"There is no user {username!r}.") from None

    def get_user_or_anonymous(self, username: str) -> Any:
        try:
            return self.get_user(username)
        except UsageError:
            # A user may be called that.
            if username == ANONYMOUS:
                return None
            raise

    def get_reason(self, exc: APIException) -> str:
        return ErrorBody(exc.detail).sentence

    def format_json(self, value: Any) -> str:
        return json.dumps(value, indent=2, ensure_ascii=False)
