/*
 * What the official TypeScript SDK makes of an endpoint that wants OAuth, behind a proxy.
 *
 *   node typescript_discovery.cjs LIBRARY URL
 *
 * LIBRARY is "sdk" (version 1 of the SDK) or "client" (version 2). Prints a JSON object: what it
 * reads in the challenge, the metadata that it finds, and whether the metadata is for the endpoint.
 */
"use strict";

const [library, url] = process.argv.slice(2);
const auth =
  library === "sdk"
    ? require("@modelcontextprotocol/sdk/client/auth.js")
    : require("@modelcontextprotocol/client");

function fetchBehindProxy(address, init = {}) {
  const headers = new Headers(init.headers);
  headers.set("X-Forwarded-Proto", "https");
  headers.set("X-Forwarded-Host", "shop.example");
  return fetch(address, { ...init, headers });
}

async function main() {
  const response = await fetchBehindProxy(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  const challenge = auth.extractWWWAuthenticateParams(response);
  const metadata = await auth.discoverOAuthProtectedResourceMetadata(url, {}, fetchBehindProxy);
  const resource = await auth.selectResourceURL("https://shop.example/mcp", {}, metadata);
  console.log(JSON.stringify({ challenge, metadata, resource }));
}

main();
