// The calls of this tab: kept while the tab is open, for the user who made them.
const Trail = (() => {
  "use strict";

  const { addressOf, all, button, copyFrom, find, make, phrase } = Dom;
  const KEY = "drf-mcp-calls";
  const MOST = 30;
  // Characters of one call: a long one is sent again, but not kept.
  const LONGEST = 20000;
  const SHOWN = 160;

  function read(user) {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY)) || {};
      return kept.user === user ? kept.calls : [];
    } catch {
      return [];
    }
  }

  function keep(user, calls) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ user, calls }));
    } catch {
      // Full or switched off: the calls are kept no longer than the page.
    }
  }

  const forget = () => sessionStorage.removeItem(KEY);

  /** The arguments without secrets and files, which no storage is to have. */
  function withoutSecrets(tool, value, place = "") {
    if (Array.isArray(value)) return value.map((item) => withoutSecrets(tool, item, `${place}/*`));
    if (!Dom.isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [name, member, `${place}/${Fields.escaped(name)}`]);
    const kept = members.filter(([, , pointer]) => !tool.fields[pointer]?.secret && !tool.fields[pointer]?.upload);
    return Object.fromEntries(kept.map(([name, member, pointer]) => [name, withoutSecrets(tool, member, pointer)]));
  }

  function record(tool, args, reading, milliseconds) {
    const written = withoutSecrets(tool, args);
    // A link makes a call, not a trial of one.
    const untried = { ...tool, fields: { ...tool.fields, [tool.controls.dry_run]: { secret: true } } };
    const address = addressOf(tool.name, withoutSecrets(untried, args));
    if (address.length <= LONGEST) window.history.replaceState(null, "", new URL(address, location).hash);
    const { word, code, failed } = reading;
    const call = { tool: tool.name, args: written, word, code, failed, took: milliseconds, at: Date.now(), words: Words.all(tool, written) };
    if (JSON.stringify(call).length <= LONGEST) keep(tool.user, [call, ...read(tool.user)].slice(0, MOST));
  }

  /** Show the calls; `send` makes one of this page's tool again. */
  function show(tool, send) {
    const panel = find("[data-trail]");
    const calls = read(tool.user);
    panel.hidden = !calls.length;
    find("[data-trail-count]", panel).textContent = calls.length;
    find("[data-trail-calls]", panel).replaceChildren(...calls.map((call) => rowOf(call, tool, send)));
    find("[data-trail-forget]", panel).onclick = () => {
      forget();
      show(tool, send);
      find("main").focus();
    };
  }

  function rowOf(call, tool, send) {
    const at = new Date(call.at);
    const named = { call: phrase(gettext("%(tool)s of %(time)s"), { tool: call.tool, time: at.toLocaleTimeString() }) };
    const [sending, label] = [gettext("Send again"), phrase(gettext("Send again %(call)s"), named)];
    const about = make("div", { class: "about-call" },
      make("strong", {}, call.tool),
      make("span", { class: call.failed ? "bad" : "good" }, [call.word, call.code].filter(Boolean).join(" ")),
      make("time", { datetime: at.toISOString() }, `${at.toLocaleTimeString()}, ${Math.round(call.took)} ms`),
      argumentsOf(call.args));
    const again = call.tool === tool.name
      ? button(sending, { "aria-label": label }, () => send(call.args))
      : make("a", { class: "quiet", href: addressOf(call.tool, call.args), "aria-label": label }, sending);
    const copies = Object.keys(call.words).map((name) => make("option", {}, name));
    const choice = make("select", { "aria-label": phrase(gettext("Copy %(call)s as"), named) }, ...copies);
    const copying = button(gettext("Copy"), { "aria-label": phrase(gettext("Copy %(call)s"), named) }, () => copyFrom(copying, call.words[choice.value]));
    return make("li", {}, about, make("div", { class: "again" }, again, choice, copying));
  }

  function argumentsOf(args) {
    const text = JSON.stringify(args);
    const whole = () => make("code", {}, text);
    return text.length <= SHOWN ? whole() : Values.folded(`${text.slice(0, SHOWN)}…`, whole);
  }

  /** The arguments in the address, undefined for none. */
  function findAsked() {
    try {
      const args = JSON.parse(decodeURIComponent(/^#call=(.+)$/.exec(location.hash)[1]));
      return Dom.isObject(args) ? args : undefined;
    } catch {
      return undefined;
    }
  }

  // Whoever logs out leaves nothing behind.
  for (const form of all(".account form")) form.addEventListener("submit", forget);

  return { record, show, findAsked };
})();
