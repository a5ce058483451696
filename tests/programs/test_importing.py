"""What REST framework imports while it is imported itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SETTINGS = """
SECRET_KEY = "not secret"
INSTALLED_APPS = ["rest_framework", "drf_mcp"]
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": ["own_authentication.OwnAuthentication"]}
"""
AUTHENTICATION = """
from rest_framework.authentication import BaseAuthentication

from drf_mcp.access import AccessToken, HasScopes, JWTAuthentication, Narrowing


class OwnAuthentication(BaseAuthentication):
    pass
"""


def test_a_module_of_authentication_classes_can_import_from_access(tmp_path):
    (tmp_path / "own_settings.py").write_text(SETTINGS)
    (tmp_path / "own_authentication.py").write_text(AUTHENTICATION)
    paths = [str(tmp_path), str(Path(__file__).resolve().parents[2])]
    done = subprocess.run(
        [sys.executable, "-c", "import rest_framework.views"],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "own_settings", "PYTHONPATH": ":".join(paths)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
