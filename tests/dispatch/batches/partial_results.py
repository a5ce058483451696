"""Readers of the results of which a part failed: the rows, and how an envelope names the rest."""

from __future__ import annotations

import json
from typing import Any


def read_response_v2(raw: dict[str, Any]) -> tuple[Any, ...]:
    body = raw["structuredContent"]
    (detail,) = body["meta"]["warning_details"]
    assert body["meta"]["warnings"] == [detail["message"]]
    return body["success"], body["data"]["results"], detail["code"], detail["context"]


def read_ok(raw: dict[str, Any]) -> tuple[Any, ...]:
    body = raw["structuredContent"]
    (warning,) = body["meta"]["warnings"]
    errors = [(error["code"], error["path"]) for error in body["errors"]]
    return body["ok"], body["data"], errors, warning


def read_status(raw: dict[str, Any]) -> tuple[Any, ...]:
    body = raw["structuredContent"]
    (error,) = body["errors"]
    rows = body["data"]["results"]
    return body["status"], body["success"], rows, error["code"], error["context"]


def read_plain(raw: dict[str, Any]) -> tuple[Any, ...]:
    rows, remarks = (json.loads(block["text"]) for block in raw["content"])
    (detail,) = remarks["warning_details"]
    return rows, detail["code"], detail["context"]


READERS = {
    "response_v2": read_response_v2,
    "ok": read_ok,
    "status": read_status,
    "plain": read_plain,
}
