"""The distributions, built from the checkout like those of a release."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs.interop.servers import ROOT


@dataclass(frozen=True)
class Distributions:
    """The files of a release.

    Attributes:
        source: the source distribution.
        unpacked: the unpacked source distribution.
        wheel: the wheel, built only from the source distribution.
    """

    source: Path
    unpacked: Path
    wheel: Path


def build(kind: str, checkout: Path, folder: Path) -> Path:
    """Build a distribution of a kind, and return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=checkout, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="session")
def distributions(tmp_path_factory) -> Distributions:
    folder = tmp_path_factory.mktemp("distributions")
    source = build("sdist", ROOT, folder / "source")
    with tarfile.open(source) as archive:
        # The default only from 3.14 on.
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return Distributions(source, unpacked, build("wheel", unpacked, folder / "wheel"))
