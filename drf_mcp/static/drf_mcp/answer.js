// The answer: what it says, whichever of the envelopes says it, and how it is shown.
const Answer = (() => {
  "use strict";

  const { addressOf, button, find, grouped, highlight, make, phrase, plain, pretty, say } = Dom;
  const { escaped } = Fields;

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

  /** What an answer says, whichever of the envelopes says it. */
  function readingOf(answer) {
    const error = answer.body?.error;
    if (!answer.body || error) {
      const message = error?.message || phrase(gettext("The server answered %(status)s without JSON."), answer);
      return { failed: true, word: gettext("Refused"), code: error ? String(error.code) : "", message, problems: [], warnings: [], kept: [], blocks: [], measured: {} };
    }
    const { content = [], structuredContent, isError } = answer.body.result;
    const [first, ...blocks] = content;
    const envelope = structuredContent ?? {};
    const meta = envelope.meta || envelope.metadata || {};
    const listed = envelope.errors || [];
    const negative = envelope.success === false || envelope.ok === false;
    const soft = negative && !isError;
    const code = isError || soft ? envelope.data?.error_code || listed[0]?.code || "" : "";
    // Somebody has to confirm, answer or approve first.
    const no = String(code).endsWith("_REQUIRED") ? gettext("Not made yet") : gettext("The answer is no");
    return {
      failed: Boolean(isError),
      soft,
      tried: meta.dry_run,
      word: isError ? gettext("Error") : soft ? no : meta.dry_run ? gettext("Dry run") : gettext("Success"),
      code,
      message: isError || soft ? envelope.error || listed[0]?.message || first?.text || "" : "",
      remedy: isError || soft ? envelope.data?.remediation || listed[0]?.fix_hint || listed[0]?.suggestion || "" : "",
      problems: isError || soft ? problemsOf(envelope) : [],
      warnings: meta.warnings || envelope.warnings || [],
      pagination: meta.pagination,
      kept: Object.keys(meta.content_archive_hashes || {}),
      measured: { duration_ms: meta.execution_time === undefined ? undefined : meta.execution_time * 1000, ...meta.telemetry },
      envelope: structuredContent,
      text: structuredContent === undefined ? first?.text : undefined,
      blocks,
    };
  }

  function problemsOf(envelope) {
    const details = envelope.data?.details;
    // The details are the first problem, with the sentence of the error, and hold the others.
    const first = details?.constraint ? [{ ...details, message: (envelope.error || "").replace(`${details.field}: `, "") }] : [];
    const problems = envelope.errors || [...first, ...(details?.problems || [])];
    return problems.map((problem) => {
      const path = problem.path || problem.context?.field || problem.field || "";
      const dotted = path.replace(/\[(\d+)\]/g, ".$1").split(".").filter(Boolean).map((name) => `/${escaped(name)}`).join("");
      return { pointer: problem.pointer ?? problem.context?.pointer ?? dotted, message: problem.message };
    }).filter((problem) => problem.message);
  }

  const TENTH = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  const milliseconds = (number) => `${number < 10 ? grouped(number, TENTH) : Math.round(number)} ms`;

  function measuresOf(reading, answer) {
    const { duration_ms: inside, database_queries: queries, database_ms: database } = reading.measured;
    const words = [phrase(gettext("%(time)s in all"), { time: milliseconds(answer.milliseconds) })];
    if (inside !== undefined) words.push(phrase(gettext("%(time)s in the view"), { time: milliseconds(inside) }));
    if (queries !== undefined) words.push(database === undefined
      ? phrase(ngettext("%(count)s query", "%(count)s queries", queries), { count: queries })
      : phrase(ngettext("%(count)s query in %(time)s", "%(count)s queries in %(time)s", queries), { count: queries, time: milliseconds(database) }));
    words.push(phrase(gettext("%(size)s bytes"), { size: grouped(new Blob([answer.text]).size) }));
    return words.map((text) => make("span", {}, text));
  }

  function blockOf(block) {
    const source = `data:${block.mimeType};base64,${block.data}`;
    const caption = (text) => make("figcaption", {}, text);
    const figure = (...children) => make("figure", { class: "block" }, ...children);
    if (block.type === "image") return figure(make("img", { src: source, alt: phrase(gettext("The image that the tool answered with, %(mimeType)s"), block) }), caption(block.mimeType));
    if (block.type === "audio") return figure(make("audio", { src: source, controls: true }), caption(block.mimeType));
    if (block.type === "resource_link") {
      const link = /^https?:/.test(block.uri) ? make("a", { href: block.uri, rel: "noreferrer" }, block.name || block.uri) : make("code", {}, block.uri);
      return figure(link, caption([block.uri, block.mimeType].filter(Boolean).join(" · ")));
    }
    if (block.type === "resource") {
      const { uri, mimeType, text, blob } = block.resource;
      const content = text === undefined
        ? make("a", { href: `data:${mimeType};base64,${blob}`, download: uri.split("/").pop() || "file" }, gettext("Download"))
        : make("pre", { tabindex: "0" }, text);
      return figure(content, caption([uri, mimeType].filter(Boolean).join(" · ")));
    }
    return figure(make("pre", { tabindex: "0" }, block.text ?? pretty(block)));
  }

  /** What a dry run would change: the fields of each object before and after. */
  function changesOf(tried) {
    const objects = tried.objects || (tried.before ? [tried] : []);
    const rows = objects.flatMap(({ object = "", before, after }) => (
      Object.keys(before).map((name) => [`${object} ${name}`.trim(), plain(before[name]), plain(after[name])])
    ));
    const table = () => Values.changes([gettext("Field"), gettext("Before"), gettext("After")], rows);
    return [make("p", {}, tried.note), ...(rows.length ? [table()] : [])];
  }

  const verdictClass = (reading) => `verdict${reading.failed ? " failed" : reading.soft ? " soft" : ""}`;

  function verdictOf(reading, rest, turns) {
    const parts = [make("h3", {}, reading.word, reading.code ? make("code", {}, reading.code) : "")];
    if (reading.message) parts.push(make("p", {}, reading.message));
    if (reading.remedy) parts.push(make("p", { class: "remedy" }, reading.remedy));
    const further = rest.filter(({ message }) => message !== reading.message);
    const told = [
      ...further.map(({ pointer, message }) => (pointer ? `${pointer}: ${message}` : message)),
      ...reading.warnings.map((warning) => (typeof warning === "string" ? warning : warning.message)),
    ];
    if (told.length) parts.push(make("ul", {}, ...told.map((text) => make("li", {}, text))));
    if (reading.tried) parts.push(...changesOf(reading.tried));
    const rests = reading.kept.map((id) => make("a", { class: "quiet", href: addressOf("content_retrieve", { archive_id: id }) }, gettext("Fetch the rest")));
    if (rests.length) parts.push(make("div", { class: "pager" }, ...rests));
    if (reading.pagination && !reading.failed) parts.push(pagerOf(reading.pagination, turns));
    return parts;
  }

  /** The rows in all, and the buttons to the pages around; `turns` says what each does. */
  function pagerOf(page, turns) {
    const count = page.total_count;
    const total = count === undefined ? "" : phrase(ngettext("%(count)s row in all", "%(count)s rows in all", count), { count: grouped(count) });
    const told = [page.page ? phrase(gettext("Page %(page)s"), page) : "", total].filter(Boolean).join(", ");
    const pager = make("div", { class: "pager" }, make("p", {}, told || (page.next ? gettext("There are more rows.") : gettext("These are the last rows."))));
    const previous = turns.previous();
    if (previous) pager.append(button(gettext("Previous page"), {}, () => turns.back(previous)));
    if (page.next) pager.append(button(gettext("Next page"), {}, () => turns.on(page.next)));
    return pager;
  }

  // The arguments of the pages before this one, the last at the end.
  let before = [];
  // Whether the call that is under way turns a page.
  let turning = false;

  /** How to turn the pages of a call; `call` makes one with other arguments. */
  function turnsOf(args, page, call) {
    const turn = (to, pages) => {
      before = pages;
      turning = true;
      call(to);
    };
    return {
      on: (next) => turn(next, [...before, args]),
      back: (to) => turn(to, before.slice(0, -1)),
      previous: () => before.at(-1) || (page?.page > 1 && args.page === page.page ? { ...args, page: page.page - 1 } : undefined),
    };
  }

  /** The data that an answer holds, undefined where it is text alone. */
  function dataOf(reading) {
    if (reading.failed || reading.soft) return undefined;
    const envelope = reading.envelope ?? parsed(reading.text);
    return Dom.isObject(envelope) && "data" in envelope ? envelope.data : envelope;
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** Show an answer; `call` makes another call of the same tool. */
  function show(tool, form, message, answer, call) {
    const args = message.params.arguments;
    const reading = readingOf(answer);
    const rest = form.fail(reading.problems);
    if (!turning) before = [];
    turning = false;
    find("[data-empty]").hidden = true;
    find("[data-full]").hidden = false;
    find("[data-measures]").replaceChildren(...measuresOf(reading, answer));
    const verdict = find("[data-verdict]");
    verdict.className = verdictClass(reading);
    verdict.replaceChildren(...verdictOf(reading, rest, turnsOf(args, reading.pagination, call)));
    showData(tool, reading);
    const result = find("#envelope");
    if (reading.envelope) highlightEnvelope(result, reading.envelope);
    else result.textContent = reading.text ?? (answer.body ? pretty(answer.body) : answer.text);
    const head = Object.entries({ Host: location.host, ...Wire.headersOf(tool, args) }).map(([name, value]) => `${name}: ${value}`);
    find("#sent").textContent = [`POST ${location.pathname} HTTP/1.1`, ...head, "", pretty(message)].join("\n");
    find("#received").textContent = [`HTTP/1.1 ${answer.status}`, `Content-Type: ${answer.type}`, "", answer.body ? pretty(answer.body) : answer.text].join("\n");
    const words = Words.all(tool, args, message);
    const noDryRun = gettext("Plain HTTP has no dry run: this request makes the call.");
    const warning = reading.tried ? `# ${noDryRun}\n` : "";
    find("#curl-rest").textContent = warning + words["curl, HTTP"];
    find("#curl-mcp").textContent = words["curl, MCP"];
    find("#program").textContent = words["Python SDK"];
    find("#command").textContent = words.mcp_call;
    say(`${reading.word}. ${reading.message}`);
    if (matchMedia("(max-width: 60rem)").matches && rest.length === reading.problems.length) find("[data-answer]").scrollIntoView();
    return reading;
  }

  /** Show the data beside its JSON; an error and an empty answer have the JSON alone. */
  function showData(tool, reading) {
    const [tab, json] = [find("#tab-result"), find("#tab-json")];
    const data = dataOf(reading);
    const shown = data !== undefined && !(Dom.isObject(data) && !Object.keys(data).length);
    find("[data-view]").replaceChildren(...(shown ? [Values.view(data, { ...tool, place: "" })] : []));
    find("[data-blocks]").replaceChildren(...reading.blocks.map(blockOf));
    const was = tab.hidden;
    tab.hidden = !shown && !reading.blocks.length;
    if (tab.hidden && tab.getAttribute("aria-selected") === "true") json.click();
    else if (was && !tab.hidden) tab.click();
  }

  return { show, readingOf, dataOf, verdictClass };
})();
