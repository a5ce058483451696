/*
 * What the official client of the tasks extension makes of a server's tasks.
 *
 *   node ext_tasks.cjs NODE_MODULES URL
 *
 * Prints a JSON object: what became of a call that works, of one that asks, of one that fails, of
 * one that is cancelled, and of one that is no task.
 */
"use strict";

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");

const [modules, url] = process.argv.slice(2);
const REVISION = "2026-07-28";
const EXTENSION = "io.modelcontextprotocol/tasks";
const clientInfo = { name: "tests", version: "1" };
const capabilities = { elicitation: { form: {} }, extensions: { [EXTENSION]: {} } };

// The SDK knows no tasks at this revision: the host sends their messages itself.
let last = 0;
async function rawDispatch(request) {
  const message = { jsonrpc: "2.0", id: ++last, ...request };
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": REVISION,
    "Mcp-Method": message.method,
  };
  const name = message.params.name ?? message.params.taskId;
  if (name) headers["Mcp-Name"] = name;
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
  const answer = await response.json();
  return "error" in answer
    ? { kind: "error", error: answer.error }
    : { kind: "result", result: answer.result };
}

async function main() {
  const { createTaskSessionFromClient } = await import(
    `${modules}/@modelcontextprotocol/ext-tasks/dist/client/index.js`
  );
  const client = new Client(clientInfo, {
    versionNegotiation: { mode: { pin: REVISION } },
    capabilities,
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const asked = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: "tests",
    rawDispatch,
    v2RequestFraming: { protocolVersion: REVISION, clientInfo, clientCapabilities: capabilities },
    onInputRequest: async (request) => {
      asked.push(request.params.message);
      return { action: "accept", content: { confirm: true } };
    },
  });

  const run = async (name, args, during) => {
    const execution = await session.callTool(name, args);
    if (during) await during(execution);
    const { outcome } = await execution.settle();
    return { kind: execution.kind, ...outcome, error: outcome.error && String(outcome.error) };
  };
  const seen = {
    worked: await run("slow_compute", { seconds: 0.2, label: "some" }),
    answered: await run("confirm_delete", { filename: "notes.txt" }),
    failed: await run("failing_job", {}),
    cancelled: await run("slow_compute", { seconds: 30 }, (execution) => execution.cancel()),
    immediate: await run("greet", { name: "Ada" }),
    asked,
  };
  await session.close();
  await client.close();
  console.log(JSON.stringify(seen));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
