// What every script of the page needs: finding and making elements, telling screen readers,
// showing JSON, copying. The scripts are plain files, loaded in the order of their use, after
// Django's catalog of their texts: gettext, ngettext, interpolate.
const Dom = (() => {
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

  /** Make a button, quiet unless it has a class `row`; `does` runs on a click. */
  function button(text, attributes, does) {
    const style = ["quiet", attributes.class].filter(Boolean).join(" ");
    const element = make("button", { type: "button", ...attributes, class: attributes.class === "row" ? "row" : style }, text);
    element.addEventListener("click", does);
    return element;
  }

  /** Tell it to a screen reader. */
  function say(text) {
    find("[data-said]").textContent = text;
  }

  /** Put facts into a text, at each %(name)s. */
  const phrase = (text, facts) => interpolate(text, facts, true);
  /** A number as the page's language writes it. */
  const grouped = (number, options) => number.toLocaleString(document.documentElement.lang, options);

  const pretty = (value) => JSON.stringify(value, null, 2);
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const isObject = (value) => Object.prototype.toString.call(value) === "[object Object]";

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

  /** The address of a tool's form with the arguments of a call, which no server gets to see. */
  const addressOf = (tool, args) => `${location.pathname}?tool=${encodeURIComponent(tool)}#call=${encodeURIComponent(JSON.stringify(args))}`;

  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = make("textarea", { class: "unseen" });
    document.body.append(area);
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  /** Copy a text, and say on the button that it is copied. */
  async function copyFrom(button, text) {
    const [words, copied] = [button.textContent, gettext("Copied")];
    await copy(text);
    button.focus();
    say(copied);
    if (words === copied) return;
    button.textContent = copied;
    setTimeout(() => { button.textContent = words; }, 1600);
  }

  /** Keep the focus of one keyboard stop among tabs: arrow keys, Home and End. */
  function tabs(list, select) {
    const buttons = () => all("[role=tab]:not([hidden])", list);
    list.addEventListener("click", (event) => {
      const chosen = event.target.closest("[role=tab]");
      if (chosen) select(chosen);
    });
    list.addEventListener("keydown", (event) => {
      const shown = buttons();
      const at = shown.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = shown[(to + shown.length) % shown.length];
      select(next);
      next.focus();
    });
  }

  return { find, all, make, button, say, phrase, grouped, pretty, plain, isObject, highlight, addressOf, copyFrom, tabs };
})();
