/*
 * The official TypeScript SDK's client at a running server.
 *
 *   node typescript_sdk.cjs LIBRARY REVISION URL TOKEN
 *
 * LIBRARY is "sdk" (version 1 of the SDK) or "client" (version 2). Prints a JSON object:
 * the revision spoken, the names of the tools, and the results of calls by the tool's name.
 */
"use strict";

const [library, revision, url, token] = process.argv.slice(2);

const LIBRARIES = {
  sdk: () => ({
    Client: require("@modelcontextprotocol/sdk/client/index.js").Client,
    Transport: require("@modelcontextprotocol/sdk/client/streamableHttp.js")
      .StreamableHTTPClientTransport,
    options: {},
  }),
  client: () => {
    const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
    const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
    return {
      Client,
      Transport: StreamableHTTPClientTransport,
      options: { versionNegotiation: { mode } },
    };
  },
};

const REFUSED = {
  customers_create: { name: "A", email: "no address", country: "DE" },
  customers_deactivate: { pk: 1 },
};

/** Reading tools that need no arguments; the client holds each result against its schema. */
function readable(tools) {
  return tools.filter(
    (tool) => tool.annotations.readOnlyHint && !(tool.inputSchema.required ?? []).length,
  );
}

async function main() {
  const { Client, Transport, options } = LIBRARIES[library]();
  const client = new Client({ name: "tests", version: "1" }, options);
  const transport = new Transport(new URL(url), {
    requestInit: { headers: { Authorization: `Token ${token}` } },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const results = {};
  for (const { name } of readable(tools)) {
    results[name] = await client.callTool({ name, arguments: {} });
  }
  for (const [name, args] of Object.entries(REFUSED)) {
    results[name] = await client.callTool({ name, arguments: args });
  }
  await client.close();
  const names = tools.map((tool) => tool.name);
  console.log(JSON.stringify({ revision: transport.protocolVersion, names, results }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
