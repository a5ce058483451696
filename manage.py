#!/usr/bin/env python
"""Run Django's commands for the example project."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError:
        command = " ".join(["manage.py", *sys.argv[1:]])
        sys.exit(
            f"{sys.executable} has no Django. Make an environment: make demo\n"
            f"Then use its Python: .venv/bin/python {command}"
        )
    execute_from_command_line(sys.argv)
