"""All files that name the supported Python and Django versions name the same ones."""

from __future__ import annotations

import itertools
import re
from functools import cache

import pytest
import yaml

from tests.programs.interop.servers import ROOT

PROJECT = (ROOT / "pyproject.toml").read_text()
# The oldest Python (its minor version) of each Django version.
NEEDED = {"5.2": 10, "6.0": 12, "6.1": 12}
CLAIMED = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
DJANGOS = re.findall(r'"Framework :: Django :: (\d\.\d)"', PROJECT)


@cache
def workflow(name: str) -> dict:
    """Return a workflow. YAML reads the key ``on`` as true."""
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


def minor(python: str) -> int:
    """Return the minor version: 11 for ``3.11``."""
    return int(python.partition(".")[2])


def expanded(factors: str) -> list[str]:
    """Return the environments of a line for tox: ``py{311,312}-django52`` is two."""
    parts = [part.split(",") for part in re.split(r"[{}]", factors)]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


TOX = [
    environment
    for line in re.findall(r"^ {4}(py\S+)$", PROJECT, re.M)
    for environment in expanded(line)
]


def matrix() -> set[tuple[str, str]]:
    """Return the pairs of Python and Django in the workflow."""
    stated = workflow("tests")["jobs"]["matrix"]["strategy"]["matrix"]
    left_out = {(pair["python"], pair["django"]) for pair in stated["exclude"]}
    return set(itertools.product(stated["python"], stated["django"])) - left_out


def test_the_workflow_runs_every_python_with_every_django_that_supports_it():
    pythons = {python for python, _ in matrix()}
    assert pythons == {f"3.{number}" for number in range(11, 15)}
    assert matrix() == {
        (python, django)
        for python, django in itertools.product(pythons, NEEDED)
        if minor(python) >= NEEDED[django]
    }


def test_tox_has_an_environment_for_each_of_them():
    wanted = {
        f"py{python.replace('.', '')}-django{django.replace('.', '')}"
        for python, django in matrix()
    }
    assert wanted <= set(TOX)


def test_claimed_versions_are_tested():
    assert set(DJANGOS) == set(NEEDED)
    assert set(CLAIMED) <= {python for python, _ in matrix()}
    assert [minor(python) for python in CLAIMED] == list(range(11, 11 + len(CLAIMED)))


@pytest.mark.parametrize("page", ["README.md", "docs/reference/extras.md"])
def test_the_documentation_has_the_claimed_versions(page):
    text = re.sub(r"[ |]+", " ", (ROOT / page).read_text())
    assert f"Python 3.11 to {CLAIMED[-1]}" in text
    assert f"Django {DJANGOS[0]} to {DJANGOS[-1]}" in text


def test_a_tag_publishes_with_trusted_publishing_and_without_secrets():
    release = workflow("release")
    assert release[True] == {"push": {"tags": ["v*"]}}
    publishing = release["jobs"]["pypi"]
    assert publishing["permissions"] == {"id-token": "write"}
    (publish,) = (
        step for step in publishing["steps"] if "gh-action-pypi-publish" in step.get("uses", "")
    )
    assert "with" not in publish
    for name in ("tests", "docs", "release"):
        assert "secrets." not in (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()


@pytest.mark.parametrize("name", ["tests", "docs", "release"])
def test_a_workflow_may_only_read_by_default(name):
    assert workflow(name)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("name", ["tests", "docs", "release"])
def test_every_make_target_and_script_of_a_workflow_exists(name):
    makefile = (ROOT / "Makefile").read_text()
    steps = [step for job in workflow(name)["jobs"].values() for step in job["steps"]]
    commands = "\n".join(step.get("run", "") for step in steps)
    targets = re.findall(r"^make (\S+)", commands, re.M)
    scripts = re.findall(r"^(\.ci/\S+)", commands, re.M)
    assert targets or scripts
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.M), target
    for script in scripts:
        assert (ROOT / script).stat().st_mode & 0o100, script
