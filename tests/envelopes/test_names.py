"""The public names of the envelopes."""

from __future__ import annotations

import pytest

from drf_mcp import envelopes


@pytest.mark.parametrize("name", envelopes.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(envelopes, name) is not None
    assert name in dir(envelopes)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        envelopes.Nothing  # noqa: B018
