// Picking a key from the rows that another tool lists, by search.
const Finder = (() => {
  "use strict";

  const { button, find, grouped, isObject, make, phrase, plain, say } = Dom;
  // What people know a row by, the best first.
  const NAMES = ["title", "name", "label", "subject", "full_name", "username", "email", "number", "slug", "code", "sku", "reference"];
  const PAUSE = 250;

  /** The rows of an answer, wherever its envelope has them; undefined where it has none. */
  function rowsOf(value) {
    if (Array.isArray(value)) return value;
    if (!isObject(value)) return undefined;
    for (const name of ["data", "results", "items"]) {
      const rows = name in value && rowsOf(value[name]);
      if (rows) return rows;
    }
    return undefined;
  }

  function labelOf(row, key) {
    const known = NAMES.find((name) => name !== key && typeof row[name] === "string" && row[name]);
    const text = known ? row[known] : Object.entries(row).find(([name, value]) => name !== key && typeof value === "string" && value)?.[1];
    return text === undefined ? "" : text.length > 80 ? `${text.slice(0, 80)}…` : text;
  }

  /** What tells rows apart that have one label: no address, and nothing twice. */
  function detailsOf(row, key, label) {
    const isTold = ([name, value]) => name !== key && ![label, "", null].includes(value) && typeof value !== "object";
    const isShort = (value) => plain(value).length <= 40 && !/^https?:/.test(value);
    const shown = Object.entries(row).filter((entry) => isTold(entry) && isShort(entry[1]));
    return shown.slice(0, 5).map(([name, value]) => `${name}: ${plain(value)}`).join(" · ");
  }

  const titleOf = (name, finder) => phrase(gettext("Find %(name)s with %(tool)s"), { name, tool: finder.tool });

  /** Add the button that picks a key to a field. */
  function addTo(field, control, name, finder, tool) {
    const picked = make("span", { class: "picked" });
    const tell = (label) => { picked.textContent = label; };
    const about = { class: "find", "aria-label": titleOf(name, finder), "aria-haspopup": "dialog" };
    const opening = button(gettext("Find"), about, () => open(field, name, finder, tool, tell));
    const row = make("div", { class: "pick" });
    control.replaceWith(row);
    row.append(control, opening);
    row.after(picked);
    const { fill } = field;
    field.fill = (value) => {
      picked.textContent = "";
      fill(value);
    };
    control.addEventListener("input", () => { picked.textContent = ""; });
  }

  function open(field, name, finder, tool, tell) {
    const dialog = find("[data-finder]");
    const [query, status, list, more] = ["query", "status", "rows", "more"].map((part) => find(`[data-finder-${part}]`, dialog));
    const other = { ...tool, name: finder.tool, mirrored: finder.mirrored };
    let [asked, timer] = [0, 0];
    find("#finder-title").textContent = titleOf(name, finder);
    list.replaceChildren();
    query.value = "";

    /** The arguments of the list: what its path needs of the form, and the search. */
    function argumentsOf() {
      const written = finder.given.reduce((args, [theirs, own]) => put(args, theirs, valueAt(own)), {});
      const words = query.value.trim();
      return words && finder.search ? put(written, finder.search, words) : written;
    }

    function valueAt(pointer) {
      const input = find(`[data-field="${CSS.escape(pointer)}"] :is(input, select)`);
      return input?.type === "number" ? Number(input.value) : input?.value;
    }

    async function ask(args, after = []) {
      const mine = (asked += 1);
      status.textContent = gettext("Searching …");
      const { body, status: code } = await Wire.send(other, Wire.messageOf(other, args));
      if (mine !== asked || !dialog.open) return;
      const reading = Answer.readingOf({ body, status: code });
      const data = reading.envelope ?? (reading.text ? parsed(reading.text) : undefined);
      const rows = reading.failed ? undefined : rowsOf(data);
      if (!rows) {
        status.textContent = reading.message || phrase(gettext("%(tool)s did not answer with rows."), finder);
        return;
      }
      show([...after, ...rows], reading.pagination);
    }

    function parsed(text) {
      try {
        return JSON.parse(text);
      } catch {
        return undefined;
      }
    }

    function show(rows, page) {
      const words = finder.search ? [] : query.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fitting = rows.filter((row) => isObject(row) && words.every((word) => JSON.stringify(row).toLowerCase().includes(word)));
      list.replaceChildren(...fitting.map(itemOf));
      const total = page?.total_count ?? rows.length;
      const told = phrase(gettext("%(count)s of %(total)s"), { count: grouped(fitting.length), total: grouped(total) });
      status.textContent = fitting.length ? told : gettext("None found.");
      more.hidden = !page?.next;
      more.onclick = () => ask(page.next, rows);
    }

    function itemOf(row) {
      const key = [finder.key, "id", "pk"].find((name) => name && row[name] !== undefined);
      const label = labelOf(row, key);
      const does = () => {
        if (key === undefined) return;
        field.fill(row[key]);
        tell(label);
        dialog.close();
        field.fail("");
        field.focus();
        say(`${name}: ${plain(row[key])} ${label}`);
      };
      const choose = button("", { class: "row" }, does);
      choose.append(make("strong", {}, key === undefined ? "?" : plain(row[key])), make("span", {}, label), make("small", {}, detailsOf(row, key, label)));
      return make("li", {}, choose);
    }

    query.oninput = () => {
      clearTimeout(timer);
      timer = setTimeout(() => ask(argumentsOf()), PAUSE);
    };
    // Enter searches at once and does not close the dialog; arrows walk through the rows.
    dialog.onkeydown = (event) => {
      const stops = [query, ...Dom.all("button", list)];
      const at = stops.indexOf(document.activeElement);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
      if (event.key === "Enter" && event.target === query) {
        event.preventDefault();
        clearTimeout(timer);
        ask(argumentsOf());
      } else if (at >= 0 && stops[to]) {
        event.preventDefault();
        stops[to].focus();
      }
    };
    dialog.showModal();
    query.focus();
    ask(argumentsOf());
  }

  const put = (args, pointer, value) => {
    const [name, member] = pointer.split("/").slice(1);
    return { ...args, [name]: member ? { ...args[name], [member]: value } : value };
  };

  return { addTo, rowsOf, labelOf, put };
})();
