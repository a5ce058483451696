"""Django's deployment checks find nothing in the example project's settings for production."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.programs.interop.servers import ROOT

PRODUCTION = {
    "SHOP_DEBUG": "0",
    "SHOP_HOSTS": "shop.example",
    "SHOP_HTTPS": "1",
    "SHOP_SECRET_KEY": "of-one-machine-alone-" + "0123456789abcdefghij" * 2,
    "DJANGO_SETTINGS_MODULE": "example_project.settings",
}


def test_the_deployment_checks_find_nothing(tmp_path):
    environment = {**os.environ, **PRODUCTION, "SHOP_DB": str(tmp_path / "shop.sqlite3")}
    for words in (["migrate", "-v", "0"], ["check", "--deploy", "--fail-level", "INFO"]):
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
