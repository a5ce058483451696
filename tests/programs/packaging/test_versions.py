"""The versions that are claimed are tested, and workflows run what exists, without secrets."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from tests.programs.interop.servers import ROOT

WORKFLOWS = {path.stem: path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")}
PROJECT = (ROOT / "pyproject.toml").read_text()
# The oldest Python of each Django.
NEEDED = {"5.2": "3.11", "6.0": "3.12", "6.1": "3.12"}
PYTHONS = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
DJANGOS = re.findall(r'"Framework :: Django :: (\d\.\d)"', PROJECT)


def read_matrix() -> set[tuple[str, str]]:
    stated = yaml.safe_load(WORKFLOWS["tests"])["jobs"]["matrix"]["strategy"]["matrix"]
    left_out = {(pair["python"], pair["django"]) for pair in stated["exclude"]}
    return set(itertools.product(stated["python"], stated["django"])) - left_out


def expand(factors: str) -> list[str]:
    """Return the environments of a line for tox: ``py{311,312}-django52`` is two."""
    parts = [part.split(",") for part in re.split(r"[{}]", factors)]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def test_the_workflow_and_tox_run_every_claimed_python_with_each_django_that_supports_it():
    pythons = {python for python, _ in read_matrix()}
    assert pythons >= set(PYTHONS)
    pairs = itertools.product(pythons, DJANGOS)
    supported = {(python, django) for python, django in pairs if python >= NEEDED[django]}
    assert read_matrix() == supported
    lines = re.findall(r"^ {4}(py\S+)$", PROJECT, re.M)
    environments = {each for line in lines for each in expand(line)}
    wanted = {f"py{python}-django{django}".replace(".", "") for python, django in supported}
    assert wanted <= environments


@pytest.mark.parametrize("page", ["README.md", "docs/reference/extras.md"])
def test_the_documentation_has_the_claimed_versions(page):
    text = re.sub(r"[ |]+", " ", (ROOT / page).read_text())
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in text
    assert f"Django {DJANGOS[0]} to {DJANGOS[-1]}" in text


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_only_read_has_no_secret_and_pins_its_actions(name):
    text = WORKFLOWS[name]
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    used = re.findall(r"uses: (.+)", text)
    assert [u for u in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", u)] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_make_target_and_script_of_a_workflow_exists(name):
    makefile = (ROOT / "Makefile").read_text()
    jobs: dict[str, Any] = yaml.safe_load(WORKFLOWS[name])["jobs"]
    commands = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    for target in re.findall(r"^make (\S+)", commands, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for script in re.findall(r"^(\.ci/\S+)", commands, re.M):
        assert (ROOT / script).stat().st_mode & 0o100, script


@pytest.mark.django_db
def test_every_change_of_a_model_has_a_migration():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
