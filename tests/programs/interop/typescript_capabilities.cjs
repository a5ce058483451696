/*
 * What the official TypeScript client does with a server's further capabilities.
 *
 *   node typescript_capabilities.cjs REVISION URL TOKEN
 *
 * Prints a JSON object: resources and what one holds, prompts and what one says, completions,
 * the progress of a call, and what became of a call that the user had to confirm.
 */
"use strict";

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");

const [revision, url, token] = process.argv.slice(2);

async function main() {
  const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
  const asked = [];
  const client = new Client(
    { name: "tests", version: "1" },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", async (request) => {
    asked.push(request.params.message);
    return { action: "accept", content: {} };
  });
  const requestInit = { headers: { Authorization: `Token ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));

  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { contents } = await client.readResource({ uri: resources[0].uri });
  const { prompts } = await client.listPrompts();

  const progress = [];
  const onprogress = (notification) => progress.push(notification.progress);
  const exported = await client.callTool({ name: "orders_export", arguments: {} }, { onprogress });

  const call = async (name, args) =>
    (await client.callTool({ name, arguments: args })).structuredContent.data;
  const [customer] = (await call("customers_list", { page_size: 1 })).results;
  const product = (await call("products_list", {})).results.find((each) => each.in_stock).slug;
  const lines = [{ product, quantity: 1 }];
  const { id } = await call("orders_create", { customer: customer.id, lines });
  const destroyed = await client.callTool({ name: "orders_destroy", arguments: { pk: id } });

  await client.close();
  console.log(
    JSON.stringify({ resources, resourceTemplates, contents, prompts, progress, exported, asked, destroyed }),
  );
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
