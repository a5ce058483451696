"""Where an aggregate is shown."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command


@pytest.mark.slow
def test_an_aggregate_is_listed_under_the_view_of_its_list(db):
    out = io.StringIO()
    call_command("mcp_tools", stdout=out)
    headings = [line for line in out.getvalue().splitlines() if line and not line.startswith(" ")]
    assert headings.count("example_project.shop.views.OrderViewSet") == 1
