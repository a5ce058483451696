"""The commands of the README run as printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

from tests.programs.interop.servers import ROOT

README = (ROOT / "README.md").read_text()
# The command lines of a clone.
COMMANDS = re.findall(r"^\$ \.venv/bin/python (manage\.py .+)$", README, re.M)


def test_the_commands_of_the_readme_run_as_printed_after_make_demo(tmp_path):
    # ``.ci/first_command.py`` runs the first.
    assert re.search(r"^\$ (make demo)\b", README, re.M)
    database = tmp_path / "a new" / "folder" / "shop.sqlite3"
    environment = {**os.environ, "SHOP_DB": str(database), "NO_COLOR": "1"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = [
        subprocess.run(
            [sys.executable, *shlex.split(command)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
        for command in ("manage.py demo --no-serve", *COMMANDS)
    ]
    # The last call is one that the serializer refuses.
    assert [each.returncode for each in done] == [0, 0, 0, 0, 1], [each.stderr for each in done]
    assert json.loads(done[-2].stdout)["data"]["total"] == "222.00"
    assert json.loads(done[-1].stdout)["data"]["details"]["received"] == 5000


def test_manage_says_which_python_to_use_where_django_is_missing():
    # Without site-packages.
    done = subprocess.run(
        [sys.executable, "-S", "manage.py", "mcp_tools"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "make demo\nThen use its Python: .venv/bin/python manage.py mcp_tools"
    )
