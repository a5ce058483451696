// The same call as two users, side by side, and what differs.
const Compare = (() => {
  "use strict";

  const { find, isObject, make, phrase, plain, pretty, say } = Dom;
  const MOST = 50;

  function start(tool, form) {
    const asking = find("[data-compare-form]");
    if (!asking) return;
    const place = find("[data-compare-answer]");
    asking.addEventListener("submit", async (event) => {
      event.preventDefault();
      const users = [asking.elements.one.value.trim(), asking.elements.other.value.trim()];
      try {
        const args = form.read();
        place.replaceChildren(...partsOf(await ask(tool, args, users)));
      } catch (error) {
        if (error instanceof Fields.Refused) return;
        place.replaceChildren(make("p", { class: "verdict failed" }, error.message));
      }
      say(place.firstElementChild.textContent);
    });
  }

  async function ask(tool, args, users) {
    const headers = { "Content-Type": "application/json", Accept: "application/json", [tool.csrf.header]: tool.csrf.token };
    const body = JSON.stringify({ tool: tool.name, arguments: args, users });
    const response = await fetch(`${location.pathname}?show=comparison`, { method: "POST", headers, body, credentials: "same-origin" });
    const answer = await response.json();
    if (answer.error) throw new Error(answer.error.message);
    return answer.answers;
  }

  function partsOf(answers) {
    const sides = answers.map((answer) => {
      const reading = Answer.readingOf(answer);
      return { ...answer, reading, data: Answer.dataOf(reading) };
    });
    return [differenceOf(sides), make("div", { class: "sides" }, ...sides.map(sideOf))];
  }

  function sideOf({ user, milliseconds, reading, data }) {
    const words = [reading.word, reading.code, reading.message].filter(Boolean).join(" · ");
    const verdict = make("p", { class: Answer.verdictClass(reading) }, words);
    const rows = data === undefined ? undefined : Finder.rowsOf(data);
    const total = reading.pagination?.total_count ?? rows?.length;
    const told = [rows && phrase(ngettext("%(count)s row", "%(count)s rows", total), { count: total }), `${Math.round(milliseconds)} ms`].filter(Boolean).join(", ");
    const json = make("pre", { tabindex: "0", "aria-label": phrase(gettext("The answer to %(user)s"), { user }) });
    Dom.highlight(json, pretty(data ?? reading.envelope ?? reading.text ?? null));
    return make("section", { "aria-label": user }, make("h3", {}, `${user}: ${told}`), verdict, json);
  }

  /** Say what differs: rows that one of the two lacks, then values. */
  function differenceOf([one, other]) {
    const place = make("div", { class: "difference" });
    if (one.data === undefined || other.data === undefined) {
      const [told, others] = [one, other].map(({ reading }) => `${reading.word} ${reading.code}`.trim());
      const alike = phrase(gettext("%(one)s and %(other)s are answered alike: %(answer)s."), { one: one.user, other: other.user, answer: told });
      place.append(make("p", {}, told === others ? alike : `${one.user}: ${told}. ${other.user}: ${others}.`));
      return place;
    }
    const [first, second] = [one, other].map(({ data }) => Finder.rowsOf(data));
    const lines = first && second ? rowsThatDiffer(first, second, one.user, other.user) : [];
    const values = first && second ? valuesOfShared(first, second) : [...valuesThatDiffer(one.data, other.data)];
    if (!lines.length && !values.length) {
      const same = pretty(one.data) === pretty(other.data);
      const alike = phrase(gettext("%(one)s and %(other)s get the same data."), { one: one.user, other: other.user });
      lines.push(same ? alike : gettext("The same rows, in another order."));
    }
    place.append(...lines.map((text) => make("p", {}, text)));
    if (values.length) {
      const written = (value) => (value === undefined ? "—" : plain(value));
      const rows = values.slice(0, MOST).map(([where, ...both]) => [where, ...both.map(written)]);
      const count = values.length;
      place.append(make("p", {}, phrase(ngettext("%(count)s value differs.", "%(count)s values differ.", count), { count })));
      place.append(Values.changes([gettext("Where"), one.user, other.user], rows));
      if (count > MOST) place.append(make("p", {}, phrase(gettext("The first %(count)s are shown."), { count: MOST })));
    }
    return place;
  }

  const keyOf = (row) => (isObject(row) ? plain(row.id ?? row.pk ?? row.uuid ?? row.slug ?? row.url ?? row) : plain(row));

  function rowsThatDiffer(first, second, one, other) {
    const keys = [first, second].map((rows) => new Set(rows.map(keyOf)));
    const told = (rows, keysOfOther, user) => {
      const own = rows.filter((row) => !keysOfOther.has(keyOf(row)));
      const count = own.length;
      const first = own.slice(0, 5).map((row) => [keyOf(row), isObject(row) ? Finder.labelOf(row, "id") : ""].filter(Boolean).join(" ")).join(", ");
      const names = count > 5 ? phrase(gettext("%(names)s and more"), { names: first }) : first;
      const text = ngettext("%(count)s row of this page for %(user)s alone: %(names)s.", "%(count)s rows of this page for %(user)s alone: %(names)s.", count);
      return count ? [phrase(text, { count, user, names })] : [];
    };
    return [...told(first, keys[1], one), ...told(second, keys[0], other)];
  }

  function valuesOfShared(first, second) {
    const others = new Map(second.map((row) => [keyOf(row), row]));
    return first.flatMap((row) => (others.has(keyOf(row)) ? [...valuesThatDiffer(row, others.get(keyOf(row)), keyOf(row))] : []));
  }

  function* valuesThatDiffer(one, other, where = "") {
    if (isObject(one) && isObject(other)) {
      for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) yield* valuesThatDiffer(one[name], other[name], where ? `${where} / ${name}` : name);
    } else if (JSON.stringify(one) !== JSON.stringify(other)) yield [where || gettext("answer"), one, other];
  }

  return { start };
})();
