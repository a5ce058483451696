// The data of an answer for people: rows as a table that sorts, an object as a card, images shown,
// long texts folded.
const Values = (() => {
  "use strict";

  const { addressOf, button, find, isObject, make, phrase, plain, say } = Dom;
  const LONG = 120;
  // A date, a number, a name: on one line.
  const SHORT = 24;
  const IMAGE = /\.(avif|gif|jpe?g|png|svg|webp)$/i;

  const within = (at, name) => ({ ...at, place: `${at.place}/${Fields.escaped(name)}` });

  /**
   * Return what shows a value. `at` has its place in a row, the tools that read the objects named
   * at places, as `links`, and the address below which the project has its files, as `media`.
   */
  function view(value, at) {
    if (Array.isArray(value) && value.length && value.every(isObject)) return tableOf(value, at);
    if (!isObject(value)) return make("div", { class: "alone" }, cellOf(value, at));
    const { results, ...rest } = value;
    if (!Array.isArray(results)) return cardOf(value, at);
    const rows = results.length ? view(results, at) : make("p", { class: "none" }, gettext("No rows."));
    return make("div", { class: "values" }, rows, Object.keys(rest).length ? cardOf(rest, at) : "");
  }

  function cardOf(object, at) {
    const members = Object.entries(object);
    if (!members.length) return make("p", { class: "none" }, gettext("Nothing in it."));
    return make("dl", { class: "card" }, ...members.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, cellOf(value, within(at, name))))));
  }

  function cellOf(value, at) {
    if (value === null) return make("span", { class: "none" }, "null");
    const link = ["number", "string"].includes(typeof value) && value !== "" && at.links[at.place];
    if (link) return make("a", { class: "nowrap", href: addressOf(link.tool, Finder.put({}, link.argument, value)) }, plain(value));
    if (typeof value === "string") return textOf(value, at.media);
    if (Array.isArray(value)) {
      if (!value.length) return make("span", { class: "none" }, gettext("none"));
      if (!value.some((item) => typeof item === "object" && item !== null)) return make("span", {}, value.map(plain).join(", "));
      return folded(rowsIn(value), () => view(value, within(at, "*")));
    }
    if (isObject(value)) return folded(summaryOf(value), () => cardOf(value, at));
    return make("span", { class: typeof value === "number" ? "number" : "word" }, plain(value));
  }

  const rowsIn = ({ length: count }) => phrase(ngettext("%(count)s row", "%(count)s rows", count), { count });

  function summaryOf(object) {
    const label = Finder.labelOf(object, "");
    const count = Object.keys(object).length;
    return label || phrase(ngettext("%(count)s member", "%(count)s members", count), { count });
  }

  function textOf(text, media) {
    if (isImage(text, media)) return make("img", { src: text, alt: text.startsWith("data:") ? gettext("The image of the answer") : text, loading: "lazy" });
    if (/^https?:\/\/\S+$/.test(text)) return make("a", { href: text, rel: "noreferrer noopener", target: "_blank" }, text);
    if (text.length <= LONG) return make("span", { class: text.length <= SHORT ? "nowrap" : undefined }, text);
    return folded(`${text.slice(0, LONG - 20).trimEnd()}…`, () => make("div", { class: "whole" }, text));
  }

  /** Only what the project itself serves as a file: any other address might do something. */
  function isImage(text, media) {
    if (/^data:image\/(avif|gif|jpeg|png|webp)[;,]/.test(text)) return true;
    if (!media || !/^(https?:\/\/|\/)\S+$/.test(text)) return false;
    const [address, root] = [new URL(text, location.href), new URL(media, location.href)];
    return address.origin === location.origin && root.origin === location.origin && address.pathname.startsWith(root.pathname) && IMAGE.test(address.pathname);
  }

  /** A part that opens; what is in it is made when it does. */
  function folded(summary, makeInside) {
    const element = make("details", { class: "folded" }, make("summary", {}, make("span", { class: "closed" }, summary), make("span", { class: "opened" }, gettext("Fold"))));
    element.addEventListener("toggle", () => element.append(makeInside()), { once: true });
    return element;
  }

  // --- Tables ------------------------------------------------------------------------------

  function compare(one, other) {
    if (one === other) return 0;
    // What is missing is last, whichever way the table is sorted.
    const [first, second] = [one, other].map((value) => (typeof value === "boolean" ? Number(value) : value));
    const numbers = [first, second].map((value) => (typeof value === "number" || (typeof value === "string" && value.trim() !== "") ? Number(value) : NaN));
    if (!numbers.some(Number.isNaN)) return numbers[0] - numbers[1];
    return plain(first).localeCompare(plain(second), undefined, { numeric: true });
  }

  const isMissing = (value) => value === null || value === undefined;

  function sorted(rows, name, direction) {
    const known = rows.filter((row) => !isMissing(row[name])).sort((one, other) => direction * compare(one[name], other[name]));
    return [...known, ...rows.filter((row) => isMissing(row[name]))];
  }

  /** The columns: what names a row first, addresses, nested values and long texts last. */
  function ordered(rows) {
    const isBulky = (value) => (typeof value === "object" ? value !== null : typeof value === "string" && (value.length > LONG || /^https?:/.test(value)));
    const names = [...new Set(rows.flatMap(Object.keys))];
    const bulky = new Set(names.filter((name) => rows.some((row) => isBulky(row[name]))));
    return [...names.filter((name) => !bulky.has(name)), ...bulky];
  }

  function tableOf(rows, at) {
    const names = ordered(rows);
    const body = make("tbody");
    const fieldOf = (row, name) => make("td", { class: typeof row[name] === "number" ? "numeric" : undefined }, name in row ? cellOf(row[name], within(at, name)) : "");
    const fill = (shown) => body.replaceChildren(...shown.map((row) => make("tr", {}, ...names.map((name) => fieldOf(row, name)))));
    const heads = names.map((name) => {
      const head = make("th", { scope: "col" });
      head.append(button(name, { class: "sort" }, () => sort(head, name)));
      return head;
    });

    function sort(head, name) {
      const now = head.getAttribute("aria-sort");
      const next = now === "ascending" ? "descending" : now === "descending" ? "" : "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      fill(next ? sorted(rows, name, next === "ascending" ? 1 : -1) : rows);
      const sorting = next === "ascending" ? gettext("Sorted by %(name)s, ascending") : gettext("Sorted by %(name)s, descending");
      say(next ? phrase(sorting, { name }) : gettext("In the order of the answer"));
    }

    fill(rows);
    const table = make("table", { class: "rows-table" }, make("thead", {}, make("tr", {}, ...heads)), body);
    return make("div", { class: "sideways", tabindex: "0", role: "region", "aria-label": rowsIn(rows) }, table);
  }

  /** A table of texts, the first of each row its heading. */
  function changes(heads, rows) {
    const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
    const lines = rows.map(([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((text) => make("td", {}, text))));
    return make("table", { class: "changes" }, make("thead", {}, head), make("tbody", {}, ...lines));
  }

  return { view, folded, changes };
})();
