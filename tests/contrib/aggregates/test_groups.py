"""The order of groups, and how many there are."""

from __future__ import annotations

import pytest

from tests.contrib.aggregates.journeys import Journey

pytestmark = pytest.mark.usefixtures("journeys")


@pytest.fixture
def ask(agent_of):
    def call(username="carol", **arguments):
        result = agent_of(username).call_with("journeys_aggregate", arguments)
        assert not result.is_error, result.envelope
        return result.data

    return call


def by_passengers(group, sign=1):
    return group["passengers"] is None, sign * (group["passengers"] or 0)


ORDERS = {
    "-metric": lambda group: (-group["count"], *by_passengers(group)),
    "metric": lambda group: (group["count"], *by_passengers(group)),
    "group": by_passengers,
    "-group": lambda group: by_passengers(group, -1),
}


def test_groups_come_in_the_given_order_with_null_last(ask):
    for order, key in ORDERS.items():
        groups = ask(group_by=["passengers"], order=order)["groups"]
        assert None in [group["passengers"] for group in groups]
        assert groups == sorted(groups, key=key), order
    groups = ask(group_by=["passengers"])["groups"]
    assert groups == sorted(groups, key=ORDERS["-metric"])


def test_a_limit_leaves_the_last_groups_out_and_says_how_many_there_are(ask):
    every = ask(group_by=["day_day"])
    some = ask(group_by=["day_day"], limit=5)
    assert some["groups"] == every["groups"][:5]
    assert some["has_more"] is True
    assert some["group_count"] == every["group_count"] == len(every["groups"]) > 5
    assert some["total"] == every["total"] == {"count": 70}


def test_a_list_without_rows_has_a_total_and_no_groups(ask):
    answer = ask(
        search="nobody", group_by=["kind"], metrics=["count", "sum_price", "distinct_owner"]
    )
    assert answer["groups"] == []
    assert answer["total"] == {"count": 0, "sum_price": None, "distinct_owner": 0}


def test_the_order_of_the_list_does_not_split_the_groups(ask):
    kinds = [group["kind"] for group in ask(group_by=["kind"], search="Bern")["groups"]]
    assert len(kinds) == len(set(kinds))


def test_decimals_sum_up_exactly(ask):
    Journey.objects.update(price="9999.999")
    assert ask(metrics=["sum_price", "avg_price"])["total"] == {
        "sum_price": "699999.930",
        "avg_price": "9999.99900",
    }
