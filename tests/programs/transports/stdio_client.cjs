/*
 * The official TypeScript SDK's client, which starts the server itself.
 *
 *   node stdio_client.cjs LIBRARY REVISION COMMAND [ARGUMENT...]
 *
 * LIBRARY is "sdk" (version 1 of the SDK) or "client" (version 2). Prints a JSON object: the
 * server's name, the names of the tools, and the results of two calls.
 */
"use strict";

const [library, revision, command, ...args] = process.argv.slice(2);

const LIBRARIES = {
  sdk: () => ({
    Client: require("@modelcontextprotocol/sdk/client/index.js").Client,
    Transport: require("@modelcontextprotocol/sdk/client/stdio.js").StdioClientTransport,
    options: {},
  }),
  client: () => ({
    Client: require("@modelcontextprotocol/client").Client,
    Transport: require("@modelcontextprotocol/client/stdio").StdioClientTransport,
    options: {
      versionNegotiation: { mode: revision === "2026-07-28" ? { pin: revision } : "legacy" },
    },
  }),
};

async function main() {
  const { Client, Transport, options } = LIBRARIES[library]();
  const client = new Client({ name: "tests", version: "1" }, options);
  const transport = new Transport({ command, args, env: process.env, stderr: "inherit" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const stats = await client.callTool({ name: "stats", arguments: {} });
  const refused = await client.callTool({ name: "quote", arguments: { product: "none" } });
  const server = client.getServerVersion().name;
  await client.close();
  const names = tools.map((tool) => tool.name);
  console.log(JSON.stringify({ server, names, stats, refused }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
