// The page's one script: search, tabs and copying everywhere; on a tool's page also the form
// made from its input schema, the call, and the answer.
(() => {
  "use strict";

  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  /** Make an element: attributes, then children, which may be text. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== undefined && child !== ""));
    return element;
  }

  /** Tell it to a screen reader. */
  function say(text) {
    find("[data-said]").textContent = text;
  }

  const pretty = (value) => JSON.stringify(value, null, 2);

  const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b(?:true|false|null)\b/g;

  /** Show JSON in colours; `text` may begin with lines that are none. */
  function highlight(element, text) {
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(TOKEN)) {
      const [token, string, colon] = match;
      const kind = string ? (colon ? "key" : "text") : /^[tfn]/.test(token) ? "word" : "number";
      parts.push(text.slice(end, match.index), make("span", { class: kind }, string || token), colon || "");
      end = match.index + token.length;
    }
    element.replaceChildren(...parts, text.slice(end));
  }

  const FOLDED = ["meta", "metadata"];

  /** Show an envelope, what it says about the answer folded away; copying takes that along. */
  function highlightEnvelope(element, envelope) {
    const entries = Object.entries(envelope);
    const members = entries.flatMap(([name, value], at) => {
      const folds = FOLDED.includes(name);
      const text = make("span", { hidden: folds });
      highlight(text, `: ${pretty(value).replace(/\n/g, "\n  ")}`);
      const key = folds ? foldFor(name, text) : make("span", { class: "key" }, JSON.stringify(name));
      return ["  ", key, text, at < entries.length - 1 ? ",\n" : "\n"];
    });
    element.replaceChildren("{\n", ...members, "}");
  }

  function foldFor(name, text) {
    const button = make("button", { type: "button", class: "fold", "aria-expanded": "false" }, JSON.stringify(name));
    button.addEventListener("click", () => {
      text.hidden = !text.hidden;
      button.setAttribute("aria-expanded", !text.hidden);
    });
    return button;
  }

  // --- Everywhere ------------------------------------------------------------------------

  function searching() {
    const input = find("#search");
    if (!input) return;
    const nothing = find("[data-nothing]");
    const items = all("[data-words]");

    function filter() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const item of items) {
        const about = item.dataset.words.toLowerCase();
        item.hidden = !words.every((word) => about.includes(word));
        shown += !item.hidden;
      }
      for (const group of all("[data-group]")) group.hidden = !find("[data-words]:not([hidden])", group);
      nothing.hidden = shown > 0;
      find("[data-query]", nothing).textContent = input.value;
      say(words.length ? `${shown} ${shown === 1 ? "tool" : "tools"}` : "");
    }

    function clear() {
      input.value = "";
      filter();
      input.focus();
    }

    input.addEventListener("input", filter);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
      const first = items.find((item) => !item.hidden);
      if (event.key === "Enter" && input.value && first) find("a", first).click();
    });
    find("[data-clear]")?.addEventListener("click", clear);
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select, dialog");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
    });
    if (input.value) filter();
    find(".rail [aria-current]")?.scrollIntoView({ block: "center" });
  }

  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = make("textarea", { class: "unseen" });
    document.body.append(area);
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  function copying() {
    document.addEventListener("click", async (event) => {
      const button = event.target.closest("[data-copy]");
      if (!button) return;
      await copy(document.getElementById(button.dataset.copy).textContent);
      button.focus();
      button.textContent = "Copied";
      say("Copied");
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }

  function tabbing() {
    for (const tabs of all("[data-tabs]")) {
      const buttons = all("[role=tab]", tabs);
      const select = (chosen) => {
        for (const button of buttons) {
          button.setAttribute("aria-selected", button === chosen);
          button.tabIndex = button === chosen ? 0 : -1;
          document.getElementById(button.getAttribute("aria-controls")).hidden = button !== chosen;
        }
      };
      select(buttons[0]);
      find("[role=tablist]", tabs).addEventListener("click", (event) => {
        const button = event.target.closest("[role=tab]");
        if (button) select(button);
      });
      find("[role=tablist]", tabs).addEventListener("keydown", (event) => {
        const at = buttons.indexOf(event.target);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
        if (at < 0 || to === undefined) return;
        event.preventDefault();
        const next = buttons[(to + buttons.length) % buttons.length];
        select(next);
        next.focus();
      });
    }
  }

  // --- The form --------------------------------------------------------------------------
  // A field is {pointer, element, read, fill, fail}: `read` returns its value, undefined for
  // one that is not to be sent, and throws a Refused; `fail` shows an error at it.

  class Refused extends Error {}

  const escaped = (name) => name.replace(/~/g, "~0").replace(/\//g, "~1");
  const typeOf = (schema) => [schema.type].flat().find((type) => type && type !== "null") || "";

  /** Say what a value has to be, in few words. */
  function kindOf(schema) {
    const type = typeOf(schema);
    const { minimum: least, maximum: most, minLength: shortest, maxLength: longest } = schema;
    if (schema.enum) return "choice";
    if (type === "array") return `list of ${typeOf(schema.items || {}) || "value"}s`;
    if (least !== undefined && most !== undefined) return `${type} ${least} – ${most}`;
    if (least !== undefined) return `${type} ≥ ${least}`;
    if (most !== undefined) return `${type} ≤ ${most}`;
    if (longest !== undefined && type === "string") return shortest > 1 ? `text, ${shortest} – ${longest}` : `text ≤ ${longest}`;
    return { string: "text", "": "any JSON", object: "JSON object", boolean: "yes or no" }[type] || type;
  }

  /** An example of a value that the schema describes, for the placeholder. */
  function example(schema) {
    if (schema.default !== undefined) return schema.default;
    if (schema.enum) return schema.enum[0];
    const members = Object.entries(schema.properties || {});
    const values = {
      array: () => [example(schema.items || {})],
      object: () => Object.fromEntries(members.map(([name, member]) => [name, example(member)])),
      integer: () => schema.minimum ?? 1,
      number: () => schema.minimum ?? 1.5,
      boolean: () => true,
    };
    return (values[typeOf(schema)] || (() => "…"))();
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Refused(`This is not JSON yet: ${error.message}`);
    }
  }

  /** The control for a schema: {control, read, fill, wide}. */
  function controlFor(schema, attributes, facts) {
    const type = typeOf(schema);
    const absent = schema.default === undefined ? "not sent" : `not sent, ${schema.default} by default`;
    if (facts?.upload) return uploadControl(attributes);
    if (schema.enum) return selectControl(attributes, absent, schema.enum);
    if (type === "boolean") return selectControl(attributes, absent, [true, false]);
    if (type === "array" && schema.items?.enum) return checkControl(attributes, schema.items.enum);
    if (["array", "object", ""].includes(type)) return jsonControl(attributes, schema, facts);
    if (type === "string") return textControl(attributes, schema, facts);
    return numberControl(attributes, schema, facts);
  }

  function selectControl(attributes, absent, values) {
    const choices = values.map((value) => make("option", { value: JSON.stringify(value) }, String(value)));
    const control = make("select", attributes, make("option", { value: "" }, absent), ...choices);
    return {
      control,
      read: () => (control.value ? JSON.parse(control.value) : undefined),
      fill: (value) => { control.value = value === undefined ? "" : JSON.stringify(value); },
    };
  }

  function checkControl(attributes, values) {
    const boxes = values.map((value) => make("input", { type: "checkbox", value: JSON.stringify(value) }));
    const labels = boxes.map((box, at) => make("label", {}, box, String(values[at])));
    const checked = () => boxes.filter((box) => box.checked).map((box) => JSON.parse(box.value));
    return {
      control: make("div", { class: "options" }, ...labels),
      read: () => (checked().length ? checked() : undefined),
      fill: (value = []) => {
        for (const box of boxes) box.checked = [value].flat().includes(JSON.parse(box.value));
      },
      legend: true,
      wide: true,
    };
  }

  function jsonControl(attributes, schema, facts) {
    const control = make("textarea", { ...attributes, rows: 2, spellcheck: "false", placeholder: JSON.stringify(facts?.example ?? example(schema)) });
    return {
      control,
      read: () => (control.value.trim() ? parsed(control.value) : undefined),
      fill: (value) => { control.value = value === undefined ? "" : pretty(value); },
      wide: true,
    };
  }

  function textControl(attributes, schema, facts) {
    const format = facts?.format || schema.format;
    const long = facts?.location === "body" && !format && !schema.pattern && !(schema.maxLength <= 500);
    const type = { date: "date", "date-time": "text", time: "time", email: "email", uri: "url" }[format] || "text";
    const written = schema.default ?? facts?.example;
    const placeholder = written !== undefined ? String(written) : format === "date-time" ? "2026-12-31T23:59:00Z" : undefined;
    const control = long
      ? make("textarea", { ...attributes, class: "prose", rows: 1, placeholder })
      : make("input", { ...attributes, type: facts?.secret ? "password" : type, placeholder, autocomplete: facts?.secret ? "new-password" : "off" });
    return {
      control,
      read: () => (control.value === "" ? undefined : control.value),
      fill: (value) => { control.value = value ?? ""; },
    };
  }

  function numberControl(attributes, schema, facts) {
    const written = schema.default ?? facts?.example;
    const placeholder = written === undefined ? undefined : String(written);
    const mode = typeOf(schema) === "integer" ? "numeric" : "decimal";
    const control = make("input", { ...attributes, type: "text", inputmode: mode, placeholder });
    // What is no number goes as it is: the view's own words about it are the better ones.
    const read = () => {
      const text = control.value.trim();
      const number = Number(text);
      if (!text) return undefined;
      return !Number.isFinite(number) || Math.abs(number) > Number.MAX_SAFE_INTEGER ? text : number;
    };
    return { control, read, fill: (value) => { control.value = value ?? ""; } };
  }

  function uploadControl(attributes) {
    const control = make("input", { ...attributes, type: "file" });
    let value;
    control.addEventListener("change", () => {
      const file = control.files[0];
      value = undefined;
      if (!file) return;
      const reader = new FileReader();
      reader.addEventListener("load", () => {
        value = reader.result.replace(";base64,", `;name=${encodeURIComponent(file.name)};base64,`);
      });
      reader.readAsDataURL(file);
    });
    return { control, read: () => value, fill: (given) => { value = given; if (given === undefined) control.value = ""; }, wide: true };
  }

  let fieldCount = 0;

  function fieldFor(name, schema, required, pointer, tool) {
    if (typeOf(schema) === "object" && Object.keys(schema.properties || {}).length) {
      return nestFor(name, schema, required, pointer, tool);
    }
    const id = `argument-${(fieldCount += 1)}`;
    const facts = tool.arguments.find((argument) => argument.pointer === pointer);
    const attributes = { id, "aria-describedby": `${id}-help ${id}-error`, "aria-required": required ? "true" : undefined };
    const { control, read, fill, legend, wide } = controlFor(schema, attributes, facts);
    const marks = [required ? make("span", { class: "required", "aria-hidden": "true" }, "*") : "", make("span", { class: "type" }, kindOf(schema))];
    const told = schema.description || schema.items?.description;
    const help = make("p", { class: "help", id: `${id}-help`, hidden: !told }, told || "");
    const error = make("p", { class: "error", id: `${id}-error`, hidden: true });
    const title = legend
      ? make("legend", {}, name, " ", ...marks)
      : make("div", { class: "label" }, make("label", { for: id }, name), ...marks);
    const element = make(legend ? "fieldset" : "div", { class: wide ? "field wide" : "field", "data-field": pointer, "aria-describedby": legend ? `${id}-help ${id}-error` : undefined }, title, control, help, error);
    const focus = () => (control.matches("div") ? find("input", control) : control).focus();
    const fail = (text) => {
      error.hidden = !text;
      error.textContent = text;
      element.classList.toggle("wrong", Boolean(text));
      if (!legend) text ? control.setAttribute("aria-invalid", "true") : control.removeAttribute("aria-invalid");
    };
    element.addEventListener("input", () => fail(""));
    return { name, pointer, element, read, fill, fail, focus };
  }

  function nestFor(name, schema, required, pointer, tool) {
    const fields = fieldsFor(schema, pointer, tool);
    const element = make("fieldset", { class: "field wide", "data-field": pointer }, make("legend", {}, name), make("div", { class: "nest" }, ...fields.map((field) => field.element)));
    return {
      name,
      pointer,
      element,
      fields,
      read: () => {
        const value = readAll(fields);
        return Object.keys(value).length || required ? value : undefined;
      },
      fill: (value) => fillAll(fields, value || {}),
    };
  }

  function fieldsFor(schema, pointer, tool) {
    const required = schema.required || [];
    const fields = Object.entries(schema.properties || {})
      .map(([name, member]) => [name, member, `${pointer}/${escaped(name)}`])
      .filter(([, , place]) => place !== tool.asks && place !== tool.tries)
      .map(([name, member, place]) => fieldFor(name, member, required.includes(name), place, tool));
    // What is required first, and the narrow ones side by side.
    const rank = (field) => 2 * !required.includes(field.name) + field.element.matches(".wide");
    return fields.sort((one, other) => rank(one) - rank(other));
  }

  const leavesOf = (fields) => fields.flatMap((field) => (field.fields ? leavesOf(field.fields) : [field]));

  /** Read fields into an object; throws a Refused once each wrong one shows why. */
  function readAll(fields) {
    const value = {};
    let refused;
    for (const field of fields) {
      try {
        const read = field.read();
        if (read !== undefined) value[field.name] = read;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (field.fail) {
          field.fail(error.message);
          if (!refused) field.focus();
        }
        refused = error;
      }
    }
    if (refused) throw refused;
    return value;
  }

  function fillAll(fields, values) {
    for (const field of fields) field.fill(values[field.name]);
  }

  /** The form of a tool: read its arguments, fill them in, show what is wrong with them. */
  function formOf(tool) {
    const form = find("[data-form]");
    const fields = fieldsFor(tool.schema, "", tool);
    const leaves = leavesOf(fields);
    const [place, raw] = [find("[data-fields]", form), find("[data-raw]", form)];
    const [text, rawError] = [find("#raw"), find("#raw-error")];
    const buttons = all("[data-mode]", form);
    let asJSON = false;

    const none = make("p", { class: "note" }, "This tool takes no arguments.");
    find("[data-legend]", form).hidden = !leaves.some((leaf) => find(".required", leaf.element));
    place.append(...(fields.length ? fields.map((field) => field.element) : [none]));

    function failRaw(message) {
      rawError.hidden = !message;
      rawError.textContent = message;
      raw.firstElementChild.classList.toggle("wrong", Boolean(message));
    }

    function readRaw() {
      failRaw("");
      try {
        const value = text.value.trim() ? parsed(text.value) : {};
        if (Object.prototype.toString.call(value) === "[object Object]") return value;
        throw new Refused("Arguments are a JSON object: { … }");
      } catch (error) {
        failRaw(error.message);
        text.focus();
        throw error;
      }
    }

    const read = () => (asJSON ? readRaw() : readAll(fields));

    function fill(values) {
      fillAll(fields, values);
      text.value = pretty(values);
    }

    /** Show problems at the fields they point into; returns those that point nowhere. */
    function fail(problems) {
      for (const leaf of leaves) leaf.fail("");
      const wrong = [];
      const rest = problems.filter(({ pointer, message }) => {
        const within = leaves.filter((leaf) => pointer === leaf.pointer || pointer.startsWith(`${leaf.pointer}/`));
        if (asJSON || !within.length) return true;
        const [leaf] = within.sort((one, other) => other.pointer.length - one.pointer.length);
        const inside = pointer.slice(leaf.pointer.length + 1).split("/").filter(Boolean).join(" / ");
        const told = wrong.filter((entry) => entry.leaf === leaf).map((entry) => entry.told);
        const line = inside ? `${inside}: ${message}` : message;
        wrong.push({ leaf, told: line });
        leaf.fail([...told, line].join(" "));
        return false;
      });
      if (wrong.length) leaves.find((leaf) => wrong.some((entry) => entry.leaf === leaf)).focus();
      return rest;
    }

    for (const button of buttons) {
      button.addEventListener("click", () => {
        const wanted = button.dataset.mode === "json";
        if (wanted === asJSON) return;
        try {
          fill(read());
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return;
        }
        asJSON = wanted;
        raw.hidden = !asJSON;
        place.hidden = asJSON;
        for (const other of buttons) other.setAttribute("aria-pressed", other === button);
      });
    }
    form.addEventListener("reset", () => {
      fill({});
      fail([]);
      failRaw("");
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    return { form, read, fill, fail };
  }

  // --- The call --------------------------------------------------------------------------

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
    words.textContent = `${total ? `${progress} of ${total}` : progress} ${message}`.trim();
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

  /** Ask before something that may destroy. */
  function confirmed(args, said = "") {
    const dialog = find("[data-confirm]");
    const preview = find("[data-confirm-preview]");
    // The arguments stand below.
    preview.textContent = said.split("\n").filter((line) => !line.startsWith("Arguments: ")).join("\n");
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
    const [name, member] = tool.tries.split("/").slice(1);
    return { ...args, [name]: member ? { ...args[name], [member]: true } : true };
  }

  // --- The same call in other words --------------------------------------------------------

  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);
  const lines = (parts) => parts.join(" \\\n  ");
  const at = (value, pointer) => pointer.split("/").slice(1).reduce((inside, name) => inside?.[name.replace(/~1/g, "/").replace(/~0/g, "~")], value);
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  function authorization(tool) {
    return tool.authorization ? [`-H ${quoted(`Authorization: ${tool.authorization}`)}`] : [];
  }

  function curlOfMCP(tool, message) {
    const headers = Object.entries(headersOf(tool, message.params.arguments)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
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

  // --- The answer --------------------------------------------------------------------------

  /** What an answer says, whichever of the envelopes says it. */
  function readingOf(answer) {
    const error = answer.body?.error;
    if (!answer.body || error) {
      const message = error?.message || `The server answered ${answer.status} without JSON.`;
      return { failed: true, word: "Refused", code: error ? String(error.code) : "", message, problems: [], warnings: [], blocks: [], measured: {} };
    }
    const { content = [], structuredContent, isError } = answer.body.result;
    const [first, ...blocks] = content;
    const envelope = structuredContent ?? {};
    const meta = envelope.meta || envelope.metadata || {};
    const listed = envelope.errors || [];
    const negative = envelope.success === false || envelope.ok === false;
    const soft = negative && !isError;
    return {
      failed: Boolean(isError),
      soft,
      tried: meta.dry_run,
      word: isError ? "Error" : soft ? "The answer is no" : meta.dry_run ? "Dry run" : "Success",
      code: isError || soft ? envelope.data?.error_code || listed[0]?.code || "" : "",
      message: isError || soft ? envelope.error || listed[0]?.message || first?.text || "" : "",
      remedy: isError || soft ? envelope.data?.remediation || listed[0]?.fix_hint || listed[0]?.suggestion || "" : "",
      problems: isError || soft ? problemsOf(envelope) : [],
      warnings: meta.warnings || envelope.warnings || [],
      pagination: meta.pagination,
      measured: { duration_ms: meta.execution_time === undefined ? undefined : meta.execution_time * 1000, ...meta.telemetry },
      envelope: structuredContent,
      text: structuredContent === undefined ? first?.text : undefined,
      blocks,
    };
  }

  function problemsOf(envelope) {
    const details = envelope.data?.details;
    // Of one problem the details themselves tell, with the sentence of the error.
    const only = details?.constraint ? [{ ...details, message: (envelope.error || "").replace(`${details.field}: `, "") }] : [];
    const problems = details?.problems || envelope.errors || only;
    return problems.map((problem) => {
      const path = problem.path || problem.context?.field || problem.field || "";
      const dotted = path.replace(/\[(\d+)\]/g, ".$1").split(".").filter(Boolean).map((name) => `/${escaped(name)}`).join("");
      return { pointer: problem.pointer ?? problem.context?.pointer ?? dotted, message: problem.message };
    }).filter((problem) => problem.message);
  }

  const milliseconds = (number) => `${number < 10 ? number.toFixed(1) : Math.round(number)} ms`;

  function measuresOf(reading, answer) {
    const { duration_ms: inside, database_queries: queries, database_ms: database } = reading.measured;
    const words = [`${milliseconds(answer.milliseconds)} in all`];
    if (inside !== undefined) words.push(`${milliseconds(inside)} in the view`);
    if (queries !== undefined) words.push(`${queries} ${queries === 1 ? "query" : "queries"}${database === undefined ? "" : ` in ${milliseconds(database)}`}`);
    words.push(`${new Blob([answer.text]).size.toLocaleString("en")} bytes`);
    return words.map((text) => make("span", {}, text));
  }

  function blockOf(block) {
    const source = `data:${block.mimeType};base64,${block.data}`;
    const caption = (text) => make("figcaption", {}, text);
    const figure = (...children) => make("figure", { class: "block" }, ...children);
    if (block.type === "image") return figure(make("img", { src: source, alt: `The image that the tool answered with, ${block.mimeType}` }), caption(block.mimeType));
    if (block.type === "audio") return figure(make("audio", { src: source, controls: true }), caption(block.mimeType));
    if (block.type === "resource_link") {
      const link = /^https?:/.test(block.uri) ? make("a", { href: block.uri, rel: "noreferrer" }, block.name || block.uri) : make("code", {}, block.uri);
      return figure(link, caption([block.uri, block.mimeType].filter(Boolean).join(" · ")));
    }
    if (block.type === "resource") {
      const { uri, mimeType, text, blob } = block.resource;
      const content = text === undefined
        ? make("a", { href: `data:${mimeType};base64,${blob}`, download: uri.split("/").pop() || "file" }, "Download")
        : make("pre", { tabindex: "0" }, text);
      return figure(content, caption([uri, mimeType].filter(Boolean).join(" · ")));
    }
    return figure(make("pre", { tabindex: "0" }, block.text ?? pretty(block)));
  }

  const CHANGES = { created: "would be created", updated: "would be changed", deleted: "would be deleted" };

  /** What a dry run would change: counts, then the fields before and after. */
  function changesOf(tried) {
    const counted = Object.entries(CHANGES).flatMap(([name, words]) => Object.entries(tried[name] || {}).map(([model, count]) => `${count ?? "?"} × ${model} ${words}`));
    const bulk = (tried.bulk_statements || []).map(({ statement, model, rows }) => `${rows ?? "?"} × ${model} by a statement of its own: ${statement}`);
    const parts = [make("p", {}, tried.note)];
    if (counted.length + bulk.length) parts.push(make("ul", {}, ...[...counted, ...bulk].map((text) => make("li", {}, text))));
    if (tried.before) {
      const head = make("tr", {}, ...["Field", "Before", "After"].map((text) => make("th", { scope: "col" }, text)));
      const rows = Object.keys(tried.before).map((name) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, plain(tried.before[name])), make("td", {}, plain(tried.after[name]))));
      parts.push(make("table", { class: "changes" }, make("thead", {}, head), make("tbody", {}, ...rows)));
    }
    return parts;
  }

  function verdictOf(reading, rest, turn) {
    const parts = [make("h3", {}, reading.word, reading.code ? make("code", {}, reading.code) : "")];
    if (reading.message) parts.push(make("p", {}, reading.message));
    if (reading.remedy) parts.push(make("p", { class: "remedy" }, reading.remedy));
    const told = [...rest.filter(({ message }) => message !== reading.message).map(({ pointer, message }) => (pointer ? `${pointer}: ${message}` : message)), ...reading.warnings.map((warning) => (typeof warning === "string" ? warning : warning.message))];
    if (told.length) parts.push(make("ul", {}, ...told.map((text) => make("li", {}, text))));
    if (reading.tried) parts.push(...changesOf(reading.tried));
    const page = reading.pagination;
    if (page && !reading.failed) {
      const total = page.total_count === undefined ? "" : `${page.total_count.toLocaleString("en")} rows in all`;
      const told = [page.page ? `Page ${page.page}` : "", total].filter(Boolean).join(", ");
      const pager = make("div", { class: "pager" }, make("p", {}, told || "There are more rows."));
      if (page.next) {
        const button = make("button", { type: "button", class: "quiet" }, "Next page");
        button.addEventListener("click", () => turn(page.next));
        pager.append(button);
      }
      if (told || page.next) parts.push(pager);
    }
    return parts;
  }

  function show(tool, form, message, answer) {
    const reading = readingOf(answer);
    const rest = form.fail(reading.problems);
    const turn = (args) => { form.fill(args); form.form.requestSubmit(); };
    find("[data-empty]").hidden = true;
    find("[data-full]").hidden = false;
    find("[data-measures]").replaceChildren(...measuresOf(reading, answer));
    const verdict = find("[data-verdict]");
    verdict.className = `verdict${reading.failed ? " failed" : reading.soft ? " soft" : ""}`;
    verdict.replaceChildren(...verdictOf(reading, rest, turn));
    find("[data-blocks]").replaceChildren(...reading.blocks.map(blockOf));
    const result = find("#envelope");
    if (reading.envelope) highlightEnvelope(result, reading.envelope);
    else result.textContent = reading.text ?? (answer.body ? pretty(answer.body) : answer.text);
    const head = Object.entries({ Host: location.host, ...headersOf(tool, message.params.arguments) }).map(([name, value]) => `${name}: ${value}`);
    find("#sent").textContent = [`POST ${location.pathname} HTTP/1.1`, ...head, "", pretty(message)].join("\n");
    find("#received").textContent = [`HTTP/1.1 ${answer.status}`, `Content-Type: ${answer.type}`, "", answer.body ? pretty(answer.body) : answer.text].join("\n");
    const warning = reading.tried ? "# Plain HTTP has no dry run: this request makes the call.\n" : "";
    find("#curl-rest").textContent = warning + curlOfREST(tool, message.params.arguments);
    find("#curl-mcp").textContent = curlOfMCP(tool, message);
    say(`${reading.word}. ${reading.message}`);
    if (matchMedia("(max-width: 60rem)").matches && rest.length === reading.problems.length) find("[data-answer]").scrollIntoView();
  }

  function calling() {
    const facts = find("#tool-facts");
    if (!facts) return;
    const tool = JSON.parse(facts.textContent);
    const form = formOf(tool);
    const [button, panel] = [find("[data-run]"), find("[data-answer]")];
    let busy = false;

    async function call(tries) {
      const args = tries ? tried(tool, form.read()) : form.read();
      if (tool.confirm && !tool.asks && !tries && !(await confirmed(args))) return;
      panel.setAttribute("aria-busy", "true");
      button.setAttribute("aria-disabled", "true");
      const { message, answer } = await converse(tool, args, messageOf(tool, args, tool.asks ? FORMS : {}));
      show(tool, form, message, answer);
    }

    form.form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (busy) return;
      busy = true;
      try {
        await call(event.submitter?.matches("[data-try]"));
      } catch (error) {
        // A network that fails is a TypeError of fetch; what the form refused shows already.
        if (error instanceof TypeError) fallen(error);
        else if (!(error instanceof Refused)) throw error;
      } finally {
        busy = false;
        find("[data-progress]").hidden = true;
        panel.removeAttribute("aria-busy");
        button.removeAttribute("aria-disabled");
      }
    });

    function fallen(error) {
      find("[data-empty]").hidden = true;
      find("[data-full]").hidden = false;
      const verdict = find("[data-verdict]");
      verdict.className = "verdict failed";
      verdict.replaceChildren(make("h3", {}, "No answer"), make("p", {}, `The server could not be reached: ${error.message}`));
      say("No answer");
    }
  }

  for (const code of all("[data-json]")) highlight(code, code.textContent);
  searching();
  copying();
  tabbing();
  calling();
})();
