"""The files of a release, and its metadata."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections import Counter
from email.message import Message
from email.parser import Parser
from pathlib import PurePosixPath

import pytest

from drf_mcp import __version__
from tests.programs.interop.servers import ROOT
from tests.programs.packaging.conftest import build

REPOSITORY = "https://github.com/drf-mcp/drf-mcp-server"
# Files for package indexes and installers.
ABOUT = {"PKG-INFO", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"}
PACKAGED = {
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "drf_mcp").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


@pytest.fixture(scope="session")
def wheel_files(distributions) -> set[str]:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        return set(wheel.namelist())


@pytest.fixture(scope="session")
def metadata(distributions) -> Message:
    """The metadata of the wheel, which package indexes show."""
    with zipfile.ZipFile(distributions.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(wheel.read(name).decode())


def test_the_source_distribution_has_the_package_and_files_about_it(distributions):
    """It has no tests, no workflows and no settings of development tools."""
    with tarfile.open(distributions.source) as archive:
        files = {"/".join(PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    assert files == PACKAGED | ABOUT


def test_a_wheel_of_the_source_distribution_has_the_whole_package(wheel_files):
    """Templates, static files, migrations and py.typed are part of it."""
    outside = {name for name in wheel_files if ".dist-info/" not in name}
    assert outside == PACKAGED
    suffixes = {PurePosixPath(name).suffix for name in outside}
    assert {".py", ".typed", ".html", ".css", ".js"} <= suffixes


def test_a_wheel_built_again_is_the_same_to_the_byte(distributions, tmp_path):
    """A user can verify that the published wheel was built from the repository."""
    again = build("wheel", distributions.unpacked, tmp_path / "wheel")
    assert again.read_bytes() == distributions.wheel.read_bytes()


def test_no_code_of_other_projects_is_shipped(wheel_files):
    """Scripts and style sheets of other projects would need their licences."""
    scripts = [name for name in wheel_files if name.endswith((".js", ".css"))]
    texts = "".join((ROOT / name).read_text() for name in scripts)
    assert scripts
    assert not re.search(r"copyright|licen[cs]e|@preserve", texts, re.I)


def test_the_metadata_has_the_urls_of_the_project(metadata):
    urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL"))
    assert set(urls) == {"Homepage", "Documentation", "Changelog", "Source", "Issues"}
    assert all(url.startswith(REPOSITORY) for url in urls.values())


def test_every_classifier_is_listed_once(metadata):
    repeated = [
        name for name, times in Counter(metadata.get_all("Classifier")).items() if times > 1
    ]
    assert repeated == []


def test_the_metadata_has_the_version_the_licence_and_the_oldest_python(metadata):
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"


def test_the_package_needs_only_django_rest_framework_and_pydantic(metadata):
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    names = {re.match(r"[\w-]+", line)[0].lower() for line in needed}
    assert names == {"django", "djangorestframework", "pydantic"}


def test_the_readme_is_the_description_and_its_links_work_on_a_package_index(metadata):
    """Relative links and anchors of GitHub's pages do not work there."""
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert text == (ROOT / "README.md").read_text()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    targets = [
        *re.findall(r"\]\(([^)\s]+)", prose),
        *re.findall(r"^\[[^\]]+\]: +(\S+)", prose, re.M),
        *re.findall(r"(?:src|href|srcset)=[\"']?([^\"'\s>]+)", prose),
    ]
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []


def test_every_reference_of_the_readme_is_defined():
    text = re.sub(r"^```.*?^```$", "", (ROOT / "README.md").read_text(), flags=re.M | re.S)
    used = set(re.findall(r"\]\[([^\]]+)\]", text))
    assert used == set(re.findall(r"^\[([^\]]+)\]: ", text, re.M))


def test_links_of_the_readme_into_the_repository_lead_to_files():
    text = (ROOT / "README.md").read_text()
    raw = REPOSITORY.replace("github.com", "raw.githubusercontent.com")
    found = re.findall(rf"(?:{REPOSITORY}/blob/main|{raw}/main)/([^\s)#]+)(?:#([\w-]+))?", text)
    assert len(found) > 10
    for path, anchor in found:
        assert (ROOT / path).is_file(), path
        headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(), re.M)
        anchors = {heading.lower().replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, anchor
