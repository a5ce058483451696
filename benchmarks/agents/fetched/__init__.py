"""Fetched projects of others: how each is set up with the package, and rows for it.

This folder keeps nothing of a project but questions about its endpoints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from django.db import transaction


@dataclass(frozen=True)
class Fetched:
    """How a fetched project is set up.

    Attributes:
        settings: its settings module.
        commit: the commit for which the data file was written.
        user: the user whose token the agent has.
        scheme: the scheme of its tokens.
        environment: the environment variables that its settings read.
        call_middleware: the patterns of its middleware that decides by path.
    """

    settings: str
    commit: str
    user: str
    scheme: str = "Token"
    environment: Mapping[str, str] = field(default_factory=dict)
    call_middleware: str = ""

    def prepare(self, name: str, source: Path) -> None:
        """Configure this process for the project, with a database file."""
        sys.path.insert(0, str(source.absolute()))
        os.environ.update(self.environment)
        os.environ.update(
            AGENTS_SETTINGS=self.settings,
            AGENTS_DATABASE=str(Path("build", f"agents-{name}.sqlite3").absolute()),
            AGENTS_CALL_MIDDLEWARE=self.call_middleware,
            DJANGO_SETTINGS_MODULE="benchmarks.agents.fetched.settings",
        )

    def fill_database(self, name: str) -> None:
        """Create the tables and rows of a project that is set up, if the file has none."""
        from django.contrib.auth import get_user_model
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        if not get_user_model().objects.filter(username=self.user).exists():
            with transaction.atomic():
                import_module(f"benchmarks.agents.fetched.{name}").seed(self.user)


FETCHED = {
    "wger": Fetched("settings.ci", "aaba20184527b018e10f1be576202aa7e7cb4c21", "mila"),
    "tandoor": Fetched(
        "recipes.test_settings",
        "d206eddbd32bd3c40feff70ad780b0f91f325eaa",
        "mila",
        scheme="Bearer",
        environment={"SECRET_KEY": "for-the-judge-on-this-machine-only"},
        call_middleware="cookbook.helper.scope_middleware.ScopeMiddleware",
    ),
}
