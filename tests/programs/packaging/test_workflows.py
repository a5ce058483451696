"""Actions of the workflows are pinned, and a release has bills of materials."""

from __future__ import annotations

import re

import pytest

from tests.programs.interop.servers import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = (ROOT / "pyproject.toml").read_text()
FOR_WORK = {"demo", "docs", "lint", "test"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_each_action_is_pinned_to_a_commit_with_its_version(workflow):
    used = re.findall(r"uses: (.+)", workflow.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


def test_an_action_has_the_same_version_everywhere():
    texts = "".join(path.read_text() for path in WORKFLOWS)
    pins = dict.fromkeys(re.findall(r"uses: ([\w./-]+)@(\w+)", texts))
    assert len({name for name, _ in pins}) == len(pins)


def test_each_extra_for_users_has_a_bill_of_materials():
    section = PROJECT.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.M))
    (listed,) = re.findall(r"^shipped_extras := (.+)$", (ROOT / "Makefile").read_text(), re.M)
    assert set(listed.split()) == extras - FOR_WORK


def test_a_release_keeps_the_bills_of_materials():
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert "run: make sbom" in release
    assert "path: build/sbom/*.cdx.json" in release
