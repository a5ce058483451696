"""A list costs its bytes, whatever the number of tools: gates in function calls and SQL."""

from __future__ import annotations

import pytest
from django.db import transaction

from benchmarks.listing.__main__ import HEADING
from benchmarks.listing.projects import ASKED_ANEW, PERMISSIONS, Listing, Project
from drf_mcp.access import verdicts

SMALL, LARGE = 20, 100
REMEMBERED = [name for name in PERMISSIONS if name != ASKED_ANEW]

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def measured(django_db_setup, django_db_blocker, watch) -> dict[tuple[str, int], Listing]:
    """Each kind of permission, with few tools and with many."""
    kinds = [(name, tools) for name in REMEMBERED for tools in (SMALL, LARGE)]
    kinds.append((ASKED_ANEW, SMALL))
    with (
        watch.paused(),
        django_db_blocker.unblock(),
        pytest.MonkeyPatch.context() as patch,
        transaction.atomic(),
    ):
        # Else nothing is remembered of users who may yet be rolled back, as these will be.
        patch.setattr(verdicts, "is_committed", lambda: True)
        found = {kind: Project(*kind).measure(callers=2) for kind in kinds}
        transaction.set_rollback(True)
    verdicts.verdicts.forget()
    return found


@pytest.mark.parametrize("tools", [SMALL, LARGE])
@pytest.mark.parametrize("name", REMEMBERED)
def test_a_later_list_costs_its_bytes_and_who_is_calling(measured, name, tools):
    listing = measured[name, tools]
    assert listing.ratio < 1.2
    assert listing.later.statements == listing.stored.statements


@pytest.mark.parametrize("name", REMEMBERED)
def test_a_later_list_of_many_tools_costs_what_one_of_few_costs(measured, name):
    few, many = measured[name, SMALL], measured[name, LARGE]
    assert len(many.content) > 4 * len(few.content)
    for least, most in zip(few.last, many.last, strict=True):
        assert (most.calls, most.statements) == (least.calls, least.statements)


def test_the_first_list_of_a_caller_asks_each_model_once(measured):
    few, many = (measured["`DjangoModelPermissions`", tools] for tools in (SMALL, LARGE))
    assert [cost.calls for cost in few.first] == [cost.calls for cost in many.first]
    # The user's permissions, and those of the user's groups, of all but the superuser.
    assert [cost.statements - many.stored.statements for cost in many.first] == [0, 2]


def test_what_is_not_remembered_is_asked_for_each_tool_at_each_list(measured):
    listing = measured[ASKED_ANEW, SMALL]
    assert [cost.statements - SMALL for cost in listing.last] == [listing.stored.statements] * 2


def test_the_table_has_a_row_for_each(measured):
    for listing in measured.values():
        assert listing.row.count("|") == HEADING.splitlines()[1].count("|")
