"""The pages on which people approve calls."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from drf_mcp.contrib.rules.models import Proposal
from example_project.shop.models import Order

PAGE = "/mcp/approvals/"


@pytest.fixture
def row(save_rule, alice) -> Proposal:
    """A proposal of alice to refund an order."""
    save_rule("orders_refund", "approve", reason="Refunds are approved.")
    order = Order.objects.filter(customer__owner__username="alice", status="paid")[0]
    alice.call("orders_refund", id=order.pk, reason="late", amount="6.00")
    return Proposal.objects.get()


@pytest.fixture
def browser_of(db):
    """Return the browser of a user; dora may approve calls."""

    def browser(username: str | None = "dora", **options) -> Client:
        client = Client(headers={"accept": "text/html"}, **options)
        if username == "dora":
            dora, _ = User.objects.get_or_create(username="dora")
            dora.user_permissions.add(Permission.objects.get(codename="approve_proposal"))
        if username is not None:
            client.force_login(User.objects.get(username=username))
        return client

    return browser


def text_of(response) -> str:
    return response.content.decode()


def decide(browser: Client, row: Proposal, decision: str, **sent):
    sent = {"decision": decision, "fingerprint": row.fingerprint, **sent}
    return browser.post(f"{PAGE}{row.pk}/", sent)


def test_a_page_shows_the_call_and_its_object_as_the_approver_reads_it(row, browser_of):
    browser, order = browser_of(), Order.objects.get(pk=row.arguments["id"])
    assert f"{PAGE}{row.pk}/" in text_of(browser.get(PAGE))
    page = text_of(browser.get(f"{PAGE}{row.pk}/"))
    assert "Refunds are approved." in page
    assert "6.00" in page
    assert f"order {order.pk}" in page
    assert order.number not in page
    dora = User.objects.get(username="dora")
    dora.user_permissions.add(Permission.objects.get(codename="view_order"))
    page = text_of(browser.get(f"{PAGE}{row.pk}/"))
    assert order.number in page
    # Of the host where the call was proposed.
    assert f"http://testserver/api/orders/{order.pk}/" in page


def test_a_page_shows_the_object_of_a_call_from_a_host_that_is_gone(row, browser_of, settings):
    browser, order = browser_of(), Order.objects.get(pk=row.arguments["id"])
    dora = User.objects.get(username="dora")
    dora.user_permissions.add(Permission.objects.get(codename="view_order"))
    Proposal.objects.update(link=f"https://gone.example{PAGE}{row.pk}/")
    settings.ALLOWED_HOSTS = ["testserver"]
    assert order.number in text_of(browser.get(f"{PAGE}{row.pk}/"))


@pytest.mark.parametrize(("has_workers", "status"), [(False, "done"), (True, "approved")])
def test_an_approved_call_is_made_at_once_where_no_worker_makes_it(
    row, browser_of, monkeypatch, has_workers, status
):
    if has_workers:
        monkeypatch.setattr("drf_mcp.contrib.rules.proposing.find_backend", object)
    assert decide(browser_of(), row, "approve").status_code == 302
    row.refresh_from_db()
    assert row.status == status
    assert (Order.objects.get(pk=row.arguments["id"]).status == "refunded") is not has_workers


def test_a_call_that_failed_says_why(row, alice, browser_of):
    alice.call("orders_refund", id=row.arguments["id"], reason="late", amount="9999.00")
    large, browser = Proposal.objects.exclude(pk=row.pk).get(), browser_of()
    decide(browser, large, "approve")
    for address in (PAGE, f"{PAGE}{large.pk}/"):
        assert "no more can be refunded" in text_of(browser.get(address))


def test_the_list_says_what_each_call_is_about(row, browser_of):
    assert "amount <strong>6.00</strong>" in text_of(browser_of().get(PAGE))


def test_a_call_that_needs_another_approval_is_not_made(row, browser_of):
    Proposal.objects.update(approvals_needed=2)
    decide(browser_of(), row, "approve")
    row.refresh_from_db()
    assert row.status == "waiting"


def test_a_call_is_declined_with_a_reason(row, browser_of):
    decide(browser_of(), row, "decline", reason="It arrived.")
    row.refresh_from_db()
    assert (row.status, row.message) == ("declined", "It arrived.")


def test_enter_in_the_field_of_the_reason_does_not_approve(row, browser_of):
    """A browser sends the first button of the form that the field is in."""
    page = text_of(browser_of().get(f"{PAGE}{row.pk}/"))
    (form,) = [each for each in page.split("<form")[1:] if 'name="reason"' in each]
    form = form.partition("</form>")[0]
    assert 'value="decline"' in form
    assert 'value="approve"' not in form


def test_a_proposal_that_changed_after_its_page_was_loaded_is_not_approved(row, browser_of):
    response = decide(browser_of(), row, "approve", fingerprint="another")
    assert response.status_code == 409
    assert "has changed since it was proposed" in text_of(response)


def test_a_proposal_whose_object_has_changed_cannot_be_approved(row, browser_of):
    browser = browser_of()
    Order.objects.filter(pk=row.arguments["id"]).update(note="Another.")
    page = text_of(browser.get(f"{PAGE}{row.pk}/"))
    assert "it cannot be approved" in page
    assert 'value="approve"' not in page
    assert decide(browser, row, "approve", fingerprint="").status_code == 409


def test_the_proposer_cannot_decide_and_sees_why(row, browser_of):
    alice = User.objects.get(username="alice")
    alice.user_permissions.add(Permission.objects.get(codename="approve_proposal"))
    browser = browser_of("alice")
    page = text_of(browser.get(f"{PAGE}{row.pk}/"))
    assert "You cannot approve a call of your own." in page
    assert 'value="approve"' not in page
    assert decide(browser, row, "approve").status_code == 403
    row.refresh_from_db()
    assert row.status == "waiting"


def test_a_user_without_the_permission_sees_no_page(row, browser_of):
    assert browser_of("bob").get(PAGE).status_code == 403
    assert decide(browser_of("bob"), row, "approve").status_code == 403
    assert browser_of(None).get(PAGE).status_code == 302


def test_a_decision_needs_a_csrf_token(row, browser_of):
    browser = browser_of("dora", enforce_csrf_checks=True)
    assert decide(browser, row, "approve").status_code == 403


def test_proposals_of_another_tenant_are_not_found(row, browser_of):
    Proposal.objects.update(tenant="north")
    browser = browser_of()
    assert row.pk not in text_of(browser.get(PAGE))
    assert browser.get(f"{PAGE}{row.pk}/").status_code == 404


@pytest.mark.parametrize(("username", "named"), [("dora", True), ("alice", False)])
def test_the_home_shows_approvers_how_many_calls_wait_and_what_they_are_about(
    row, browser_of, settings, username, named
):
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": True}
    page = text_of(browser_of(username).get("/mcp"))
    assert (f'<a href="{PAGE}">Approvals (1)</a>' in page) is named
    assert (f'href="{PAGE}{row.pk}/"' in page) is named
    assert ("amount <strong>6.00</strong>" in page) is named


def test_the_pages_are_not_cached_and_cannot_be_framed(row, browser_of):
    response = browser_of().get(f"{PAGE}{row.pk}/")
    assert "no-store" in response["Cache-Control"]
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
