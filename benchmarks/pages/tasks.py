"""The ten tasks of carol, who knows the shop and has never seen its API."""

from __future__ import annotations

USER = "carol"
TASKS = {
    "sign_in": "sign in, and see the tools",
    "find": 'find what gives "money back"',
    "arguments": "see how many of a product an order takes",
    "read": "read gold customers two at a time, and turn the page",
    "copy": "copy that call for a terminal",
    "write": "open a ticket",
    "error": "order 500 lamps, and see which value is wrong",
    "refund": "refund an order that is paid, and be asked first",
    "who": "see who may refund",
    "connect": "connect Claude Code, with a token",
}
