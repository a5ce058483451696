"""A host of MCP Apps: a page with a frame, which exchanges the messages of SEP-1865."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from playwright.sync_api import FrameLocator

from tests.programs.browser.watched import Watched, find_violations
from tests.programs.interop.servers import RunningServer

# The policy that a host sets for a page without origins ("Host Behavior"); the frame inherits it.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'none'; frame-src 'none'"
)
PAGE = f"""<!doctype html><html lang="en"><head><title>Host</title>
<meta http-equiv="Content-Security-Policy" content="{POLICY}"></head>
<body style="margin: 0; background: BACKGROUND"><iframe title="Page of the tool"
sandbox="allow-scripts" style="border: 0; width: 100%; height: 10px"></iframe><script>
const frame = document.querySelector("iframe");
const post = (message) => frame.contentWindow.postMessage({{jsonrpc: "2.0", ...message}}, "*");
window.heard = [];
addEventListener("message", async ({{source, data}}) => {{
  if (source !== frame.contentWindow) return;
  window.heard.push(data);
  if (data.method === "ui/notifications/size-changed") {{
    frame.style.height = `${{data.params.height}}px`;
  }} else if (data.method === "tools/call") {{
    post({{id: data.id, ...await window.callTool(data.params)}});
  }} else if (data.id !== undefined && data.method) {{
    post({{id: data.id, result: data.method === "ui/initialize" ? window.initialization : {{}}}});
  }}
}});
</script></body></html>"""


class Host:
    """A host for the shop, which shows the page of one tool."""

    def __init__(self, watched: Watched, server: RunningServer, username: str) -> None:
        self.watched = watched
        self.server = server
        self.headers = {
            "Authorization": f"Token {server.shop.tokens[username]}",
            "MCP-Protocol-Version": "2025-11-25",
        }
        watched.page.expose_function("callTool", lambda params: self.send("tools/call", params))

    def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the ``result`` or the ``error`` of the answer to a request."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = httpx2.post(self.server.url, json=message, headers=self.headers).json()
        return {name: answer[name] for name in ("result", "error") if name in answer}

    def show(self, name: str, arguments: dict[str, Any], theme: str = "light") -> FrameLocator:
        """Call a tool, and show its page with the arguments and the result."""
        tools = self.send("tools/list", {})["result"]["tools"]
        uri = next(t for t in tools if t["name"] == name)["_meta"]["ui"]["resourceUri"]
        [contents] = self.send("resources/read", {"uri": uri})["result"]["contents"]
        result = self.send("tools/call", {"name": name, "arguments": arguments})["result"]
        page = self.watched.page
        page.goto("about:blank")
        page.set_content(PAGE.replace("BACKGROUND", {"light": "#fff", "dark": "#111"}[theme]))
        context = {"theme": theme, "locale": "en-GB", "timeZone": "UTC", "displayMode": "inline"}
        page.evaluate(
            """([html, initialization]) => {
              window.initialization = initialization;
              document.querySelector("iframe").srcdoc = html;
            }""",
            [contents["text"], {"protocolVersion": "2026-01-26", "hostContext": context}],
        )
        page.wait_for_function(
            "() => heard.some((each) => each.method === 'ui/notifications/initialized')"
        )
        self.notify("ui/notifications/tool-input", {"arguments": arguments})
        self.notify("ui/notifications/tool-result", result)
        return page.frame_locator("iframe")

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.watched.page.evaluate(f"post({json.dumps({'method': method, 'params': params})})")

    def heard(self, method: str) -> list[dict[str, Any]]:
        """Return the params of the messages that the page sent with one method."""
        messages = self.watched.page.evaluate("() => window.heard")
        return [each["params"] for each in messages if each.get("method") == method]

    def violations(self, axe: str, theme: str) -> list[str]:
        """Return the violations that axe-core finds on the page in the frame."""
        frame = self.watched.page.frames[1]
        frame.evaluate(axe)
        return find_violations(frame, theme)
