"""What `make audit` makes of the answers of pip-audit."""

from __future__ import annotations

import importlib.util
import re

from tests.programs.interop.servers import ROOT

spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci/audit.py")
audit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit)

FINE = {"name": "urllib3", "version": "2.6.0", "vulns": []}
WEAK = {**FINE, "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.6.1"]}]}
OWN = {"name": "drf-mcp-server", "version": "0.1.0", "skip_reason": "Dependency not found on PyPI"}


def test_a_vulnerability_fails_with_the_version_that_mends_it():
    assert audit.describe([FINE, WEAK, OWN], "") == (
        False,
        "urllib3 2.6.0: PYSEC-2026-1 (mended in 2.6.1)",
    )


def test_packages_without_a_known_vulnerability_pass():
    assert audit.describe([FINE, OWN], "")[0]


def test_a_service_that_does_not_answer_passes_and_is_said():
    for answers, said in ([], "no route"), ([OWN], "it knows none of these packages"):
        passes, line = audit.describe(answers, said)
        assert passes
        assert re.search(f"NOT AUDITED.*{said}", line)


def test_an_extra_whose_private_names_are_used_has_an_upper_bound():
    sources = (path.read_text() for path in (ROOT / "drf_mcp").rglob("*.py"))
    imports = re.findall(r"^from (\w+)[\w.]* import (\([^)]+\)|[^(\n]+)", "\n".join(sources), re.M)
    private = {package for package, names in imports if re.search(r"(?<!as )\b_[a-z]", names)}
    assert private == {"oauth2_provider"}
    (bounds,) = re.findall(r"^oauth = \[(.+)\]", (ROOT / "pyproject.toml").read_text(), re.M)
    assert "<" in bounds
