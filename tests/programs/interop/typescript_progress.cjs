/*
 * A call that takes longer than its client waits, kept alive by its progress.
 *
 *   node typescript_progress.cjs SDK REVISION URL TOKEN MILLISECONDS
 *
 * Prints a JSON object: the progress as it came with the milliseconds since the call began, and
 * the data of the answer.
 */
"use strict";

const [sdk, revision, url, token, milliseconds] = process.argv.slice(2);

function load() {
  if (sdk === "client") return require("@modelcontextprotocol/client");
  const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
  const http = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
  return { Client, StreamableHTTPClientTransport: http.StreamableHTTPClientTransport };
}

async function main() {
  const { Client, StreamableHTTPClientTransport } = load();
  const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
  const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Token ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));

  const began = performance.now();
  const progress = [];
  const options = {
    timeout: Number(milliseconds),
    resetTimeoutOnProgress: true,
    onprogress: (each) => progress.push([each.progress, performance.now() - began]),
  };
  const call = { name: "count_slowly", arguments: {} };
  const result =
    sdk === "client"
      ? await client.callTool(call, options)
      : await client.callTool(call, undefined, options);
  await client.close();
  console.log(JSON.stringify({ progress, data: result.structuredContent.data }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
