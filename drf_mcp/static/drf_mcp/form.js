// The form of a tool: read its arguments, fill them in, show what is wrong with them.
const Form = (() => {
  "use strict";

  const { all, find, isObject, make, pretty } = Dom;
  const { Refused, fieldsFor, fillAll, leavesOf, parsed, readAll } = Fields;

  function of(tool) {
    const form = find("[data-form]");
    const fields = fieldsFor(tool.schema, "", tool);
    const [place, raw] = [find("[data-fields]", form), find("[data-raw]", form)];
    const [text, rawError] = [find("#raw"), find("#raw-error")];
    const buttons = all("[data-mode]", form);
    let asJSON = false;

    const none = make("p", { class: "note" }, gettext("This tool takes no arguments."));
    place.append(...(fields.length ? fields.map((field) => field.element) : [none]));
    find("[data-legend]", form).hidden = !find(".required", place);

    function failRaw(message) {
      rawError.hidden = !message;
      rawError.textContent = message;
      raw.firstElementChild.classList.toggle("wrong", Boolean(message));
    }

    function readRaw() {
      failRaw("");
      try {
        const value = text.value.trim() ? parsed(text.value) : {};
        if (isObject(value)) return value;
        throw new Refused(gettext("Arguments are a JSON object: { … }"));
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
      const leaves = leavesOf(fields);
      for (const { node } of leaves) node.fail("");
      const wrong = new Map();
      const rest = problems.filter(({ pointer, message }) => {
        const within = leaves.filter((leaf) => pointer === leaf.pointer || pointer.startsWith(`${leaf.pointer}/`));
        if (asJSON || !within.length) return true;
        const [leaf] = within.sort((one, other) => other.pointer.length - one.pointer.length);
        const inside = pointer.slice(leaf.pointer.length + 1).split("/").filter(Boolean).join(" / ");
        wrong.set(leaf.node, [...(wrong.get(leaf.node) || []), inside ? `${inside}: ${message}` : message]);
        return false;
      });
      for (const [node, lines] of wrong) node.fail(lines.join(" "));
      leaves.find(({ node }) => wrong.has(node))?.node.focus();
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

    function clear(values) {
      fill(values);
      fail([]);
      failRaw("");
    }

    form.addEventListener("reset", () => clear({}));
    find("[data-example]", form)?.addEventListener("click", () => clear(tool.example));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });

    /** Let a person fill in the arguments of a link: none of a write is there by itself. */
    function offer(args) {
      const offered = find("[data-offered]", form);
      offered.hidden = false;
      find("button", offered).onclick = () => {
        clear(args);
        offered.hidden = true;
        find("[data-run]", form).focus();
      };
    }

    /** Focus what has to be written first, or what calls a tool that reads; no keyboard of a phone. */
    function focus() {
      const first = find("[aria-required]", place) || (tool.reads && find("[data-run]", form));
      if (first && matchMedia("(min-width: 60rem) and (pointer: fine)").matches) first.focus({ preventScroll: true });
    }

    if (tool.reads) fill(tool.example);
    return { form, read, fill, fail, offer, focus };
  }

  return { of };
})();
