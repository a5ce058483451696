"""A view that commits through the database driver: the answer says that rows may have been kept."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.db import connection

pytestmark = pytest.mark.django_db(transaction=True)


def commit(request):
    Group.objects.create(name="kept")
    connection.connection.commit()
    return {}


def commit_and_write(request):
    commit(request)
    Group.objects.create(name="later")
    return {}


def test_the_answer_says_that_rows_committed_by_the_driver_may_be_kept(agent, do, caplog):
    for deed in (commit, commit_and_write):
        do(deed)
        result = agent.call("deed", dry_run=True)
        assert (result.is_error, result.code) == (True, "VALIDATION_ERROR")
        text = str(result.raw)
        assert "through the driver" in text
        assert "may have been kept" in text
        assert "othing was changed" not in text
        assert Group.objects.filter(name="kept").exists()
        assert "committed by its driver" in caplog.text
        Group.objects.all().delete()
        caplog.clear()
    # The next call works as usual.
    do(lambda request: {"done": True})
    assert agent.call("deed", dry_run=True).data == {"done": True}
    assert agent.call("deed").data == {"done": True}
