// Makes a token, fills it into the configurations and buttons, and tries it at the endpoint.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { all, find, highlight } = Dom;
  const form = find("[data-connect]");
  const status = find("[data-connection]", form);
  let { authorization } = form.dataset;

  async function makeToken() {
    const headers = { Accept: "application/json" };
    const response = await fetch(form.action, { method: "POST", headers, body: new FormData(form) });
    return response.json();
  }

  /** Put the header's new value wherever the last one is. */
  function fill(value) {
    const filled = (text) => text.replaceAll(authorization, value);
    for (const code of all("[id^=config-]")) {
      const text = filled(code.textContent);
      if (code.matches("[data-json]")) highlight(code, text);
      else code.textContent = text;
    }
    for (const link of all(".hosts a")) {
      const url = new URL(link.href);
      const config = url.searchParams.get("config");
      if (config) url.searchParams.set("config", btoa(filled(atob(config))));
      else url.search = `?${encodeURIComponent(filled(decodeURIComponent(url.search.slice(1))))}`;
      link.href = url;
    }
    for (const words of all("[data-placeholder]")) words.hidden = true;
    authorization = value;
  }

  /** Ask for the tools as a client does: with the token, and without the session. */
  async function countTools(value) {
    const [method, revision] = ["tools/list", "2025-11-25"];
    const headers = {
      Accept: "application/json, text/event-stream",
      Authorization: value,
      "Content-Type": "application/json",
      "MCP-Protocol-Version": revision,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method });
    const response = await fetch(location.pathname, { method: "POST", headers, body, credentials: "omit" });
    const { result, error } = await response.json();
    if (error) throw new Error(error.message);
    return result.tools.length;
  }

  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = find("button", form);
    button.disabled = true;
    try {
      const made = await makeToken();
      if (made.errors) throw new Error(Object.values(made.errors).flat().join(" "));
      fill(made.authorization);
      const count = await countTools(made.authorization);
      status.textContent = form.dataset.connected.replace("{count}", count);
    } catch (error) {
      status.textContent = form.dataset.refused.replace("{reason}", error.message);
    } finally {
      button.disabled = false;
    }
  });
});
