"""The files of a release, and its metadata."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import PurePosixPath

import pytest

from drf_mcp import __version__
from tests.programs.interop.servers import ROOT
from tests.programs.packaging.conftest import build

REPOSITORY = "https://github.com/drf-mcp/drf-mcp-server"
# Files for package indexes and installers.
ABOUT = {"PKG-INFO", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"}
PACKAGED = {
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "drf_mcp").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


@pytest.fixture(scope="session")
def wheel_files(distributions) -> dict[str, bytes]:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


@pytest.fixture(scope="session")
def metadata(wheel_files) -> Message:
    """The metadata of the wheel, which package indexes show."""
    (text,) = (wheel_files[name] for name in wheel_files if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(text.decode())


def test_the_source_distribution_has_the_package_and_files_about_it(distributions):
    """It has no tests, no workflows and no settings of development tools."""
    with tarfile.open(distributions.source) as archive:
        files = {"/".join(PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    assert files == PACKAGED | ABOUT


def test_a_wheel_of_the_source_distribution_has_the_whole_package(wheel_files):
    """Templates, static files, migrations, catalogs and py.typed are part of it."""
    assert {name for name in wheel_files if ".dist-info/" not in name} == PACKAGED


def test_a_wheel_built_again_is_the_same_to_the_byte(distributions, tmp_path):
    """A user can verify that the published wheel was built from the repository."""
    again = build("wheel", distributions.unpacked, tmp_path / "wheel")
    assert again.read_bytes() == distributions.wheel.read_bytes()


def test_the_metadata_has_version_licence_python_dependencies_and_urls(metadata):
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    names = {re.match(r"[\w-]+", line)[0].lower() for line in needed}
    assert names == {"django", "djangorestframework", "pydantic"}
    urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL"))
    assert set(urls) == {"Homepage", "Documentation", "Changelog", "Source", "Issues"}
    assert all(url.startswith(REPOSITORY) for url in urls.values())


def test_the_readme_is_the_description_and_its_links_work_on_a_package_index(metadata):
    """Relative links and anchors of GitHub's pages do not work there."""
    text = metadata.get_payload()
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert text == (ROOT / "README.md").read_text()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    targets = [
        *re.findall(r"\]\(([^)\s]+)", prose),
        *re.findall(r"^\[[^\]]+\]: +(\S+)", prose, re.M),
        *re.findall(r"(?:src|href|srcset)=[\"']?([^\"'\s>]+)", prose),
    ]
    assert [target for target in targets if not target.startswith("https://")] == []
    raw = REPOSITORY.replace("github.com", "raw.githubusercontent.com")
    inside = re.findall(rf"(?:{REPOSITORY}/blob/main|{raw}/main)/([^\s)#]+)", text)
    assert len(inside) > 10
    assert [path for path in inside if not (ROOT / path).is_file()] == []
