"""One proposal, several connections: each decision and each run happens once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.utils import timezone

from drf_mcp.contrib.rules.models import Approval, Proposal
from drf_mcp.contrib.rules.proposal_store import ProposalStore
from drf_mcp.exceptions import attempt
from tests.contrib.shared_database import use_shared_database

store = ProposalStore()


@pytest.fixture
def row(request, tmp_path) -> Iterator[Proposal]:
    """A proposal in a database to which each thread opens its own connection."""
    with use_shared_database(request, tmp_path, "auth", "drf_mcp_rules"):
        now = timezone.now()
        yield Proposal.objects.create(
            proposal_id="one",
            tool="orders_refund",
            status="waiting",
            approvals_needed=2,
            fingerprint="seen",
            created=now,
            updated=now,
            expires=now + store.open_for,
        )
        if connection.vendor == "postgresql":
            Proposal.objects.all().delete()
            User.objects.filter(username__startswith="approver").delete()


def call_at_once(*acts: Callable[[], object]) -> list[object]:
    """Call functions at the same time in threads, and return their results."""
    barrier, found = threading.Barrier(len(acts)), []

    def run(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            found.append(act())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_two_approvals_at_once_are_both_counted(row):
    users = [User.objects.create_user(f"approver{number}", is_superuser=True) for number in (1, 2)]
    acts = [lambda user=user: store.approve(row, user, "seen").status for user in users]
    assert sorted(call_at_once(*acts)) == ["approved", "waiting"]
    assert Approval.objects.count() == 2


def test_one_of_many_workers_makes_the_call(row):
    Proposal.objects.update(status="approved")
    found = call_at_once(*[lambda: store.begin(Proposal.objects.get(pk="one"))] * 6)
    assert sorted(found) == [False] * 5 + [True]


def test_a_withdrawal_and_a_run_at_once_do_not_both_succeed(row):
    Proposal.objects.update(status="approved")
    begin = lambda: store.begin(Proposal.objects.get(pk="one"))  # noqa: E731
    withdraw = lambda: store.withdraw(Proposal.objects.get(pk="one"))  # noqa: E731
    assert sorted(call_at_once(begin, withdraw)) == [False, True]


def test_an_approval_and_a_withdrawal_at_once_leave_nothing_to_be_made(row):
    Proposal.objects.update(approvals_needed=1)
    user = User.objects.create_user("approver", is_superuser=True)
    approve = lambda: attempt(lambda: store.approve(row, user, "seen").status, otherwise=str)  # noqa: E731
    withdraw = lambda: store.withdraw(Proposal.objects.get(pk="one"))  # noqa: E731
    assert True in call_at_once(approve, withdraw)
    assert Proposal.objects.get().status == "withdrawn"
    assert not store.begin(Proposal.objects.get())


def test_an_approval_and_a_refusal_at_once_end_in_one_of_them(row):
    Proposal.objects.update(approvals_needed=1)
    users = [User.objects.create_user(f"approver{n}", is_superuser=True) for n in (1, 2)]
    acts = [
        lambda: attempt(lambda: store.approve(row, users[0], "seen").status, ""),
        lambda: attempt(lambda: store.decline(row, users[1], "No.").status, ""),
    ]
    found = call_at_once(*acts)
    assert sorted(found)[0] == ""
    assert Proposal.objects.get().status == sorted(found)[1]


def test_a_call_whose_approval_expires_meanwhile_is_not_taken(row):
    Proposal.objects.update(status="approved", expires=timezone.now())
    found = call_at_once(*[lambda: store.begin(Proposal.objects.get(pk="one")), store.end_late] * 2)
    assert True not in found
    assert Proposal.objects.get().status == "expired"
