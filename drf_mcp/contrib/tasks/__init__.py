"""Calls that go on in the background, as tasks (SEP-2663)."""

# The name of the extension in the capabilities of clients and servers.
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
