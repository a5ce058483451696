// The same call in other words: for a shell, for a program.
const Words = (() => {
  "use strict";

  const { plain } = Dom;

  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);
  const lines = (parts) => parts.join(" \\\n  ");
  const at = (value, pointer) => pointer.split("/").slice(1).reduce((inside, name) => inside?.[name.replace(/~1/g, "/").replace(/~0/g, "~")], value);

  function authorization(tool) {
    return tool.authorization ? [`-H ${quoted(`Authorization: ${tool.authorization}`)}`] : [];
  }

  function curlOfMCP(tool, message) {
    const headers = Object.entries(Wire.headersOf(tool, message.params.arguments)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
    return lines([`curl -sS ${quoted(tool.endpoint)}`, ...authorization(tool), ...headers, `-d ${quoted(JSON.stringify(message))}`]);
  }

  /** The arguments as the path, query and body of the HTTP request. */
  function requestOf(tool, args) {
    const query = new URLSearchParams();
    let [url, body, files] = [tool.rest, undefined, []];
    for (const argument of tool.arguments) {
      const value = at(args, argument.pointer);
      if (value === undefined || value === null && argument.location !== "body") continue;
      if (argument.location === "path") url = url.replace(`{${argument.name}}`, encodeURIComponent(plain(value)));
      else if (argument.location === "query") {
        const pairs = argument.whole ? Object.entries(value) : [[argument.name, value]];
        for (const [name, member] of pairs) {
          const values = Array.isArray(member) ? member.map(plain) : [plain(member)];
          for (const text of argument.comma ? [values.join(",")] : values) query.append(name, text);
        }
      } else if (argument.whole) body = value;
      else if (argument.upload) files.push(argument.name);
      else (body ??= {})[argument.name] = value;
    }
    if (body === undefined && tool.bodyExpected) body = {};
    return { url: query.size ? `${url}?${query}` : url, body, files };
  }

  function curlOfREST(tool, args) {
    const { url, body, files } = requestOf(tool, args);
    const method = tool.method === "GET" ? [] : [`-X ${tool.method}`];
    const parts = [["curl -sS", ...method, quoted(url)].join(" "), ...authorization(tool), "-H 'Accept: application/json'"];
    const multipart = files.length || tool.bodyType === "multipart/form-data";
    const members = Object.entries(body || {}).map(([name, value]) => quoted(`${name}=${plain(value)}`));
    if (multipart) parts.push(...members.map((member) => `-F ${member}`), ...files.map((name) => `-F ${name}=@FILE`));
    else if (body !== undefined && tool.bodyType.endsWith("urlencoded")) parts.push(...members.map((member) => `--data-urlencode ${member}`));
    else if (body !== undefined) parts.push(`-H 'Content-Type: ${tool.bodyType || "application/json"}'`, `-d ${quoted(JSON.stringify(body))}`);
    return lines(parts);
  }

  /** A value in Python's own words. */
  function pythonOf(value) {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (Array.isArray(value)) return `[${value.map(pythonOf).join(", ")}]`;
    if (typeof value !== "object") return JSON.stringify(value);
    return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${pythonOf(member)}`).join(", ")}}`;
  }

  /** A program for the official SDK: `pip install mcp`, 2.0 or newer. */
  function programOf(tool, args) {
    const call = `print(await client.call_tool(${pythonOf(tool.name)}, ${pythonOf(args)}))`;
    const head = ["import asyncio", "", "from mcp import Client"];
    if (!tool.authorization) {
      const body = [`    async with Client(${pythonOf(tool.endpoint)}) as client:`, `        ${call}`];
      return [...head, "", "", "async def main():", ...body, "", "", "asyncio.run(main())"].join("\n");
    }
    return [
      "import asyncio", "", "import httpx2", ...head.slice(2), "from mcp.client.streamable_http import streamable_http_client", "", "",
      "async def main():",
      `    headers = ${pythonOf({ Authorization: tool.authorization })}`,
      "    async with httpx2.AsyncClient(headers=headers) as http:",
      `        transport = streamable_http_client(${pythonOf(tool.endpoint)}, http_client=http)`,
      "        async with Client(transport) as client:",
      `            ${call}`, "", "",
      "asyncio.run(main())",
    ].join("\n");
  }

  function commandOf(tool, args) {
    const words = ["python manage.py mcp_call", tool.name];
    if (Object.keys(args).length) words.push(quoted(JSON.stringify(args)));
    if (tool.user) words.push(tool.user.startsWith("-") ? quoted(`--as=${tool.user}`) : `--as ${quoted(tool.user)}`);
    if (tool.own) words.push(`--endpoint ${quoted(new URL(tool.endpoint).pathname)}`);
    return words.join(" ");
  }

  /** Every way to say a call, by name. */
  function all(tool, args, message = Wire.messageOf(tool, args)) {
    return {
      "curl, HTTP": curlOfREST(tool, args),
      "curl, MCP": curlOfMCP(tool, message),
      "JSON-RPC": JSON.stringify(message, null, 2),
      "Python SDK": programOf(tool, args),
      mcp_call: commandOf(tool, args),
    };
  }

  return { all };
})();
