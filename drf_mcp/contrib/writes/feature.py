from __future__ import annotations

from collections.abc import Sequence

from drf_mcp.features import (
    Bound,
    CallState,
    Choice,
    Either,
    Feature,
    Flag,
    Guard,
    Number,
    Setting,
    Text,
)


class WritesFeature(Feature):
    settings = {
        # True asks before each call of a DELETE, and of a tool with the option `destructive`: the
        # first call shows the object. "person" also refuses such calls of clients that have no
        # forms to ask their user. See docs/writes.md.
        "CONFIRM": Setting(False, Either(Flag(), Choice("person"))),
        # True gives tools that change something an argument "idempotency_key": calls with the same
        # key make one change, and get the first answer again.
        "IDEMPOTENCY_KEYS": Setting(False, Flag()),
        # Seconds for which a key is remembered.
        "IDEMPOTENCY_WINDOW": Setting(24 * 3600, Number(1)),
        # Keys of one caller that are remembered at once.
        "MAX_KEYS": Setting(
            10_000, Bound("The change was not made: %(most)s keys of yours are remembered.")
        ),
        # Characters of their answers together.
        "MAX_KEYS_CHARACTERS": Setting(
            100_000_000,
            Bound("The change was not made: the answers to your keys have %(most)s characters."),
        ),
        # Seconds in which a second call without a key, with the same arguments by the same caller,
        # gets the first answer again. None: it makes a second change.
        "REPEAT_WINDOW": Setting(None, Number(1).or_none()),
    }
    tool_options = {
        # True or "person" asks before each call of a tool that writes, False never; None as
        # `CONFIRM`.
        "confirm": Setting(None, Either(Flag(), Choice("person")).or_none()),
        # True gives a tool that writes the argument `dry_run`: the call is made, answers as usual,
        # and is rolled back. See docs/writes.md.
        "dry_run": Setting(None, Flag().or_none()),
        # The tool takes an argument of that name, as IDEMPOTENCY_KEYS.
        "idempotency_key": Setting(None, Flag().or_none()),
        # Lets a write name the version of the object that was read, and refuses it where the object
        # has changed since: True where the view checks If-Match, else the model field that each
        # save changes, such as "updated_at". See docs/writes.md.
        "if_match": Setting(None, Either(Flag(), Text()).or_none()),
        # True lets a tool that creates or updates one object take several as `items`, all of them
        # or none; "partial" keeps the ones that work. See docs/bulk.md.
        "bulk": Setting(None, Either(Flag(), Choice("partial")).or_none()),
        # The largest number of `items` in a call, 50 by default.
        "bulk_limit": Setting(None, Number().or_none()),
    }
    expires = {
        "confirmations": "drf_mcp_writes.UsedConfirmation",
        "answers_to_changes": "drf_mcp_writes.IdempotencyRecord",
    }

    tool_source = "drf_mcp.contrib.writes.guards.WritesSource"
    tool_review = "drf_mcp.contrib.writes.guards.WritesReview"

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        if call.tool.reads and not call.tool.options.if_match:
            return ()
        from drf_mcp.contrib.writes.guards import get_guards

        return get_guards(call.tool)
