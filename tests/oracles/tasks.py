"""The rules of SEP-2663 for tasks, which the official types leave out."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator
from mcp_types import methods

STATUSES = ["working", "input_required", "completed", "failed", "cancelled"]
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
TASK = {
    "taskId": {"type": "string", "pattern": "^[!-~]{22,}$"},
    "status": {"enum": STATUSES},
    "statusMessage": {"type": "string", "minLength": 1},
    "createdAt": TIME,
    "lastUpdatedAt": TIME,
    "ttlMs": {"type": ["integer", "null"], "exclusiveMinimum": 0},
    "pollIntervalMs": {"type": "integer", "exclusiveMinimum": 0},
    "resultType": {},
    "_meta": {"type": "object"},
}
# The member that only this status has.
FURTHER = {"input_required": "inputRequests", "completed": "result", "failed": "error"}
REQUIRED = ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"]
ERROR = {"type": "object", "required": ["code", "message"]}


def judge_task(method: str, result: dict[str, Any]) -> None:
    """Check the result of a task method, or a result that creates a task, with the SEP."""
    if method in ("tasks/update", "tasks/cancel"):
        assert result.keys() == {"resultType", "_meta"}, result
        assert result["resultType"] == "complete"
        return
    assert result["resultType"] == ("task" if method == "tools/call" else "complete")
    properties = dict(TASK)
    required = list(REQUIRED)
    if method == "tasks/get" and (name := FURTHER.get(result["status"])):
        properties[name] = ERROR if name == "error" else {"type": "object", "minProperties": 1}
        required.append(name)
    schema = {"properties": properties, "required": required, "additionalProperties": False}
    Draft202012Validator(schema).validate(result)
    if method == "tasks/get" and result["status"] == "completed":
        methods.validate_server_result("tools/call", "2026-07-28", result["result"])
