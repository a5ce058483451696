/*
 * What a program does with the client that mcp_client wrote for the shop: read, write, be refused.
 *
 *   node typed_typescript.ts URL TOKEN
 *
 * Prints a JSON object. `tsc --strict` checks it with the client.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { customersList, ordersCreate, ticketsCreate, ToolError } from "./shop_client.ts";

declare const process: { argv: string[] };
const [url, token] = process.argv.slice(2) as [string, string];

const client = new Client({ name: "tests", version: "1" });
const headers = { Authorization: `Token ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

const page = await customersList(client, { page_size: 1, tier: ["gold", "silver"] });
const first = page.data.results?.[0]?.id;
if (typeof first !== "number") throw new Error("no customer");
const further = await customersList(client, page.next);
const ticket = await ticketsCreate(client, {
  customer: first, subject: "Late", body: "Where is it?", priority: 3,
});
let caught: unknown = null;
try {
  await ordersCreate(client, { customer: first, lines: [{ product: "card-deck", quantity: 0 }] });
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  caught = [error.code, error.pointers, error.message, error.remediation];
}
await client.close();
const second = further.data.results?.[0]?.id;
console.log(JSON.stringify({ first, second, subject: ticket.data.subject, caught }));
