// What starts the page: search, tabs and copying everywhere, on a tool's page the form and the call.
(() => {
  "use strict";

  const { all, copyFrom, find, highlight, make, phrase, say } = Dom;

  function searching() {
    const input = find("#search");
    if (!input) return;
    const nothing = find("[data-nothing]");
    const items = all("[data-words]");
    const isFolded = Boolean(find("details[data-group]:not([open])"));
    const home = find(".home");
    // The tool that Enter opens.
    let best;

    /** How well a tool fits: a name that begins with the words, one that has them, what is said. */
    function rankOf(item, words) {
      const [name] = item.dataset.words.toLowerCase().split(" ", 1);
      return !words.every((word) => name.includes(word)) ? 2 : name.startsWith(words[0]) ? 0 : 1;
    }

    function filter() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const item of items) {
        const about = item.dataset.words.toLowerCase();
        item.hidden = !words.every((word) => about.includes(word));
        shown += !item.hidden;
      }
      best?.classList.remove("best");
      const found = words.length ? items.filter((item) => !item.hidden) : [];
      best = found.sort((one, other) => rankOf(one, words) - rankOf(other, words))[0];
      best?.classList.add("best");
      if (home) home.hidden = words.length > 0;
      for (const group of all("[data-group]")) {
        group.hidden = !find("[data-words]:not([hidden])", group);
        group.open = words.length > 0 || !isFolded;
      }
      nothing.hidden = shown > 0;
      find("[data-query]", nothing).textContent = input.value;
      say(words.length ? phrase(ngettext("%(count)s tool", "%(count)s tools", shown), { count: shown }) : "");
    }

    function clear() {
      input.value = "";
      filter();
      input.focus();
    }

    input.addEventListener("input", filter);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
      if (event.key === "Enter" && best) find("a", best).click();
    });
    find("[data-clear]")?.addEventListener("click", clear);
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select, dialog");
      const isChord = event.ctrlKey || event.metaKey;
      const searches = isChord ? event.key === "k" && !find("dialog[open]") : event.key === "/" && !typing;
      if (!searches || event.altKey) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
    if (input.value) filter();
    find(".rail [aria-current]")?.scrollIntoView({ block: "center" });
  }

  function copying() {
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-copy]");
      const place = button?.dataset.copy;
      if (button) copyFrom(button, place ? document.getElementById(place).textContent : location.href);
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
      Dom.tabs(find("[role=tablist]", tabs), select);
    }
  }

  function calling() {
    const facts = find("#tool-facts");
    if (!facts) return;
    const tool = JSON.parse(facts.textContent);
    const form = Form.of(tool);
    const [button, panel] = [find("[data-run]"), find("[data-answer]")];
    // Arguments of an earlier call are read once more before they change something again.
    let [busy, isFilledIn] = [false, false];

    async function call(args, tries) {
      const asks = (isFilledIn || tool.confirm) && !tool.controls.confirmation;
      if (asks && !tries && !(await Wire.confirmed(args))) return;
      isFilledIn = false;
      panel.setAttribute("aria-busy", "true");
      button.setAttribute("aria-disabled", "true");
      const { message, answer } = await Wire.converse(tool, args, Wire.messageOf(tool, args, tool.controls.confirmation ? Wire.FORMS : {}));
      const reading = Answer.show(tool, form, message, answer, again);
      Trail.record(tool, args, reading, answer.milliseconds);
      Trail.show(tool, resend);
    }

    /** Make a call of this tool with other arguments, which the form then has. */
    function again(args) {
      form.fill(args);
      form.form.requestSubmit();
    }

    function resend(args) {
      isFilledIn = !tool.reads;
      again(args);
    }

    form.form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (busy) return;
      busy = true;
      try {
        const tries = event.submitter?.matches("[data-try]");
        const args = form.read();
        await call(tries ? Wire.tried(tool, args) : args, tries);
      } catch (error) {
        // A network that fails is a TypeError of fetch; what the form refused shows already.
        if (error instanceof TypeError) fallen(error);
        else if (!(error instanceof Fields.Refused)) throw error;
      } finally {
        busy = false;
        find("[data-progress]").hidden = true;
        panel.removeAttribute("aria-busy");
        button.removeAttribute("aria-disabled");
      }
    });

    Trail.show(tool, resend);
    Compare.start(tool, form);

    function ask() {
      const args = Trail.findAsked();
      if (args) tool.reads ? again(args) : form.offer(args);
    }

    if (!Trail.findAsked()) form.focus();
    ask();
    window.addEventListener("hashchange", ask);

    function fallen(error) {
      find("[data-empty]").hidden = true;
      find("[data-full]").hidden = false;
      const verdict = find("[data-verdict]");
      verdict.className = "verdict failed";
      const [title, told] = [gettext("No answer"), gettext("The server could not be reached: %(message)s")];
      verdict.replaceChildren(make("h3", {}, title), make("p", {}, phrase(told, { message: error.message })));
      say(title);
    }
  }

  // As in page.css.
  const isPhone = matchMedia("(max-width: 36rem)").matches;
  for (const part of all("details[data-wide]")) part.open = !isPhone;
  for (const code of all("[data-json]")) highlight(code, code.textContent);
  searching();
  copying();
  tabbing();
  calling();
})();
