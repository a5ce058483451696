"""Fail if a package that is installed, alone or with an extra, has a known vulnerability.

Asks pip-audit about the environment that runs this, and about what each named extra would install.
Passes, and says so, where the service with the vulnerabilities does not answer.

Needs ``pip-audit`` on the PATH: ``make audit``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any


def read_installed() -> dict[str, str]:
    """Return the versions of the packages of this environment, by name."""
    command = [sys.executable, "-m", "pip", "list", "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=True)
    return {each["name"]: each["version"] for each in json.loads(done.stdout)}


def resolve(extra: str) -> dict[str, str]:
    """Return what the package and an extra would install today; "" is the package alone."""
    wanted = f".[{extra}]" if extra else "."
    options = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-", wanted]
    command = [sys.executable, "-m", "pip", "install", *options]
    done = subprocess.run(command, capture_output=True, check=True)
    found = [each["metadata"] for each in json.loads(done.stdout)["install"]]
    return {each["name"]: each["version"] for each in found}


def ask(packages: dict[str, str]) -> tuple[list[dict[str, Any]], str]:
    """Return what pip-audit found about packages, nothing without its service, and what it said."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{name}=={version}\n" for name, version in packages.items())
        file.flush()
        options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
        command = ["pip-audit", "--requirement", file.name, *options]
        done = subprocess.run(command, capture_output=True, text=True)
    answers = json.loads(done.stdout)["dependencies"] if done.stdout.strip() else []
    return answers, done.stderr.strip().rpartition("\n")[2]


def describe(answers: list[dict[str, Any]], said: str) -> tuple[bool, str]:
    """Return whether an audit passes, and a line about it."""
    # The package itself is on no index before its release.
    audited = [each for each in answers if "skip_reason" not in each]
    if not audited:
        said = "it knows none of these packages" if answers else said
        return True, f"NOT AUDITED, since the service of pip-audit does not answer: {said}"
    found = [
        f"{each['name']} {each['version']}: {vulnerability['id']}"
        f" (mended in {', '.join(vulnerability['fix_versions']) or 'no version'})"
        for each in audited
        for vulnerability in each["vulns"]
    ]
    return not found, "; ".join(found) or f"{len(audited)} packages, none is known as vulnerable"


def main(extras: list[str]) -> int:
    """Audit all of these; return the exit status."""
    audits = {"this environment": read_installed()}
    audits |= {f"[{extra}]" if extra else "the package": resolve(extra) for extra in ["", *extras]}
    passed = True
    for name, packages in audits.items():
        is_fine, line = describe(*ask(packages))
        passed &= is_fine
        sys.stdout.write(f"{name}: {line}\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
