// A call on its way: its message and headers, its progress, the questions that come back.
const Wire = (() => {
  "use strict";

  const { find, highlight, isObject, phrase, pretty } = Dom;

  let calls = 0;

  // Forms without a field, that is: a dialog.
  const FORMS = { elicitation: { form: {} } };

  function messageOf(tool, args, capabilities = {}, answers = {}) {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": tool.revision,
      "io.modelcontextprotocol/clientInfo": { name: "drf-mcp-page", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
      progressToken: "page",
    };
    const params = { name: tool.name, arguments: args, ...answers, _meta: meta };
    return { jsonrpc: "2.0", id: (calls += 1), method: "tools/call", params };
  }

  /** A text as the value of a header, in Base64 where it would not arrive as it is. */
  function headerValue(text) {
    if (text && text === text.trim() && /^[\t\x20-\x7e]*$/.test(text) && !text.includes("=?base64?")) return text;
    return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
  }

  function headersOf(tool, args) {
    const values = tool.mirrored.map(([path, name]) => [`Mcp-Param-${name}`, path.reduce((value, key) => value?.[key], args)]);
    const given = values.filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
    return {
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      "MCP-Protocol-Version": tool.revision,
      "Mcp-Method": "tools/call",
      "Mcp-Name": tool.name,
      ...Object.fromEntries(given.map(([name, value]) => [name, headerValue(String(value))])),
    };
  }

  async function send(tool, message) {
    const headers = { ...headersOf(tool, message.params.arguments), [tool.csrf.header]: tool.csrf.token };
    const started = performance.now();
    const response = await fetch(location.pathname, { method: "POST", headers, body: JSON.stringify(message), credentials: "same-origin" });
    const type = response.headers.get("Content-Type") || "";
    const streams = type.startsWith("text/event-stream");
    const text = streams ? await readEvents(response) : await response.text();
    const milliseconds = performance.now() - started;
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    return { status: `${response.status} ${response.statusText}`.trim(), type: streams ? "application/json" : type, text, body, milliseconds };
  }

  /** Show how far a call is while it runs, and return the message that answers it. */
  async function readEvents(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let [rest, answer] = ["", ""];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: "))?.slice(6);
        if (!data) continue;
        const { method, params } = JSON.parse(data);
        if (method === "notifications/progress") showProgress(params);
        else answer = data;
      }
    }
    return answer;
  }

  function showProgress({ progress, total, message = "" }) {
    const place = find("[data-progress]");
    const [bar, words] = place.children;
    place.hidden = false;
    if (total) {
      bar.max = total;
      bar.value = progress;
    }
    const told = total ? phrase(gettext("%(count)s of %(total)s"), { count: progress, total }) : progress;
    words.textContent = `${told} ${message}`.trim();
  }

  /** Send a call, and what the person answers where the tool shows first what it would do. */
  async function converse(tool, args, message) {
    const answer = await send(tool, message);
    const { resultType, inputRequests, requestState } = answer.body?.result || {};
    if (resultType !== "input_required") return { message, answer };
    const asked = Object.entries(inputRequests);
    if (!asked.every(([, { params }]) => params.requestedSchema && !Object.keys(params.requestedSchema.properties).length)) {
      // What has to be filled in is told as missing arguments.
      return converse(tool, args, messageOf(tool, args));
    }
    const agrees = await confirmed(args, asked.map(([, { params }]) => params.message).join("\n"));
    const response = agrees ? { action: "accept", content: {} } : { action: "decline" };
    const inputResponses = Object.fromEntries(asked.map(([key]) => [key, response]));
    return converse(tool, args, messageOf(tool, args, FORMS, { inputResponses, requestState }));
  }

  /** Whether a line ends in a JSON object, as the one that tells the arguments, in any language. */
  function endsInObject(line) {
    try {
      return isObject(JSON.parse(line.slice(line.indexOf("{"))));
    } catch {
      return false;
    }
  }

  /** Ask before something that may destroy. */
  function confirmed(args, said = "") {
    const dialog = find("[data-confirm]");
    const preview = find("[data-confirm-preview]");
    // The arguments stand below.
    preview.textContent = said.split("\n").filter((line) => !endsInObject(line)).join("\n");
    preview.hidden = !said;
    highlight(find("[data-confirm-arguments]"), pretty(args));
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    });
  }

  /** The arguments with the one that asks what would change. */
  function tried(tool, args) {
    const [name, member] = tool.controls.dry_run.split("/").slice(1);
    return { ...args, [name]: member ? { ...args[name], [member]: true } : true };
  }

  return { send, converse, messageOf, headersOf, tried, confirmed, FORMS };
})();
