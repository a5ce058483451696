// The fields of the form, made from a schema. A field is {name, element, read, fill}: `read`
// returns its value, undefined for one that is not to be sent, and throws a Refused. One that can
// show an error has `fail` and `focus`, one that holds others returns them from `parts`.
const Fields = (() => {
  "use strict";

  const { all, button, find, grouped, make, phrase, plain, pretty, say } = Dom;

  class Refused extends Error {}

  const escaped = (name) => String(name).replace(/~/g, "~0").replace(/\//g, "~1");
  const typesOf = (schema) => [schema.type].flat().filter(Boolean);
  const typeOf = (schema) => typesOf(schema).find((type) => type !== "null") || "";
  const hasMembers = (schema) => typeOf(schema) === "object" && Object.keys(schema.properties || {}).length > 0;
  const KINDS = {
    string: gettext("text"), "": gettext("any JSON"), object: gettext("JSON object"), boolean: gettext("yes or no"), integer: gettext("integer"), number: gettext("number"),
    date: gettext("date"), "date-time": gettext("date and time"), time: gettext("time"),
  };
  const LISTS = {
    string: gettext("list of strings"), "": gettext("list of values"), object: gettext("list of objects"), boolean: gettext("list of booleans"),
    integer: gettext("list of integers"), number: gettext("list of numbers"), array: gettext("list of arrays"),
  };

  /** Say what a value has to be, in few words. */
  function kindOf(schema, facts) {
    const type = typeOf(schema);
    const { minimum: least, maximum: most, minLength: shortest, maxLength: longest } = schema;
    if (facts?.upload) return gettext("file");
    if (facts?.decimal) return gettext("decimal");
    if (schema.enum) return gettext("choice");
    if (type === "array") return hasMembers(schema.items || {}) ? gettext("list") : LISTS[typeOf(schema.items || {})];
    if (KINDS[facts?.format]) return KINDS[facts.format];
    const kind = KINDS[type];
    if (least !== undefined && most !== undefined) return `${kind} ${least} – ${most}`;
    if (least !== undefined) return `${kind} ≥ ${least}`;
    if (most !== undefined) return `${kind} ≤ ${most}`;
    if (longest !== undefined && type === "string") return shortest > 1 ? `${kind}, ${shortest} – ${longest}` : `${kind} ≤ ${longest}`;
    return kind;
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
      throw new Refused(phrase(gettext("This is not JSON yet: %(message)s"), { message: error.message }));
    }
  }

  // --- Controls: {control, read, fill, wide, legend} ---------------------------------------

  // How an ordering's pattern names its choices: ^-?(name|joined)$
  const EITHER_WAY = /^\^-\?\(([\w|]+)\)\$$/;

  function choicesOf(schema) {
    const names = EITHER_WAY.exec(schema.pattern || "")?.[1].split("|");
    return schema.enum || (names && names.flatMap((name) => [name, `-${name}`]));
  }

  function controlFor(schema, attributes, facts) {
    const type = typeOf(schema);
    const choices = choicesOf(schema);
    if (facts?.upload) return uploadControl(attributes, facts);
    if (type === "array" && schema.items?.enum) return checkControl(schema.items.enum);
    if (choices) return selectControl(attributes, choices);
    if (type === "boolean") return selectControl(attributes, [true, false]);
    if (["array", "object", ""].includes(type)) return jsonControl(attributes, schema, facts);
    if (type === "integer") return integerControl(attributes, schema, facts);
    if (type === "number") return decimalControl(attributes, schema, facts);
    return { date: momentControl, "date-time": momentControl, time: momentControl }[facts?.format]?.(attributes, facts.format) || textControl(attributes, schema, facts);
  }

  // Characters that a field beside another one shows: a longer text is cut by the browser.
  const NARROW = 14;

  function selectControl(attributes, values) {
    const choices = values.map((value) => make("option", { value: JSON.stringify(value) }, String(value)));
    const control = make("select", attributes, make("option", { value: "" }, gettext("not sent")), ...choices);
    return {
      control,
      wide: values.some((value) => String(value).length > NARROW),
      read: () => (control.value ? JSON.parse(control.value) : undefined),
      fill: (value) => { control.value = value === undefined ? "" : JSON.stringify(value); },
    };
  }

  function checkControl(values) {
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

  const placeholderOf = (schema, facts) => {
    const written = schema.default ?? facts?.example;
    return written === undefined || written === null ? undefined : plain(written);
  };

  const SECRET = { type: "password", autocomplete: "new-password" };

  function textControl(attributes, schema, facts) {
    const format = facts?.format || schema.format;
    const long = facts?.location === "body" && !format && !schema.pattern && !(schema.maxLength <= 500) && !facts.finder;
    const type = { email: "email", uri: "url" }[format] || "text";
    const placeholder = placeholderOf(schema, facts);
    const control = long
      ? make("textarea", { ...attributes, class: "prose", rows: 1, placeholder })
      : make("input", { ...attributes, placeholder, type, autocomplete: "off", inputmode: facts?.decimal ? "decimal" : undefined, ...(facts?.secret && SECRET) });
    return {
      control,
      wide: placeholder?.length > NARROW,
      read: () => (control.value === "" ? undefined : control.value),
      fill: (value) => { control.value = value === undefined || value === null ? "" : plain(value); },
    };
  }

  /** A date, a time or both; what the browser's own control cannot hold is written as text. */
  function momentControl(attributes, format) {
    const type = { date: "date", time: "time", "date-time": "datetime-local" }[format];
    const control = make("input", { ...attributes, type });
    const local = (text) => {
      const moment = new Date(text);
      if (format !== "date-time" || !/(Z|[+-]\d\d:?\d\d)$/.test(text) || Number.isNaN(moment.valueOf())) return text;
      return new Date(moment - moment.getTimezoneOffset() * 60000).toISOString().slice(0, -1).replace(/(:00)?\.000$/, "");
    };
    return {
      control,
      wide: format === "date-time",
      read: () => {
        if (control.validity.badInput) throw new Refused(gettext("This is not complete yet."));
        if (!control.value) return undefined;
        // With its offset from UTC: the server's time zone may be another.
        return control.type === "datetime-local" ? new Date(control.value).toISOString().replace(".000Z", "Z") : control.value;
      },
      fill: (value) => {
        const text = value === undefined || value === null ? "" : local(String(value));
        control.type = type;
        control.value = text;
        if (control.value || !text) return;
        control.type = "text";
        control.value = text;
      },
    };
  }

  function integerControl(attributes, schema, facts) {
    const placeholder = placeholderOf(schema, facts);
    const control = make("input", { ...attributes, type: "number", step: "1", inputmode: "numeric", placeholder, min: schema.minimum, max: schema.maximum });
    const read = () => {
      if (control.validity.badInput) throw new Refused(gettext("This is not a whole number."));
      const number = Number(control.value);
      if (!control.value) return undefined;
      // Above this, a number of JavaScript is another one.
      return Math.abs(number) > Number.MAX_SAFE_INTEGER ? control.value : number;
    };
    return { control, read, fill: (value) => { control.value = value ?? ""; } };
  }

  function decimalControl(attributes, schema, facts) {
    const control = make("input", { ...attributes, type: "text", inputmode: "decimal", placeholder: placeholderOf(schema, facts) });
    // What is no number goes as it is: the view's own words about it are the better ones.
    const read = () => {
      const text = control.value.trim();
      if (!text) return undefined;
      return Number.isFinite(Number(text)) ? Number(text) : text;
    };
    return { control, read, fill: (value) => { control.value = value ?? ""; } };
  }

  function uploadControl(attributes, facts) {
    const input = make("input", { ...attributes, type: "file", accept: facts.image ? "image/*" : undefined });
    const about = make("div", { class: "upload" });
    let value;

    function show() {
      about.replaceChildren();
      if (value === undefined) return;
      const [, kind = ""] = /^data:([^;,]*)/.exec(value) || [];
      const size = Math.round((value.length - value.indexOf(",") - 1) * 0.75);
      if (kind.startsWith("image/")) about.append(make("img", { src: value, alt: gettext("The chosen image") }));
      about.append(make("span", {}, [kind, phrase(gettext("%(size)s bytes"), { size: grouped(size) })].filter(Boolean).join(", ")));
      about.append(button(gettext("Remove the file"), {}, () => { fill(undefined); input.focus(); }));
    }

    function fill(given) {
      value = given ?? undefined;
      input.value = "";
      show();
    }

    input.addEventListener("change", () => {
      const file = input.files[0];
      value = undefined;
      show();
      if (!file) return;
      const reader = new FileReader();
      reader.addEventListener("load", () => {
        value = reader.result.replace(";base64,", `;name=${encodeURIComponent(file.name)};base64,`);
        show();
      });
      reader.readAsDataURL(file);
    });
    return { control: make("div", {}, input, about), input, read: () => value, fill, wide: true };
  }

  // --- Fields ------------------------------------------------------------------------------

  let count = 0;

  /** The field of a schema; `place` is its pointer, with "*" for the rows of a list. */
  function fieldFor(name, schema, required, place, tool) {
    if (hasMembers(schema)) return nestFor(name, schema, required, place, tool);
    const list = typeOf(schema) === "array" && schema.items && !schema.items.enum && (hasMembers(schema.items) || typeOf(schema.items));
    return list ? rowsFor(name, schema, required, place, tool) : leafFor(name, schema, required, place, tool);
  }

  function marksOf(schema, required, facts) {
    const [kind, given] = [kindOf(schema, facts), schema.default ?? undefined];
    const told = given === undefined ? kind : phrase(gettext("%(kind)s, default %(value)s"), { kind, value: plain(given) });
    return [required ? make("span", { class: "required", "aria-hidden": "true" }, "*") : "", make("span", { class: "type" }, told)];
  }

  function leafFor(name, schema, required, place, tool) {
    const id = `argument-${(count += 1)}`;
    const facts = tool.fields[place];
    const attributes = { id, "aria-describedby": `${id}-help ${id}-error`, "aria-required": required ? "true" : undefined };
    const made = controlFor(schema, attributes, facts);
    const { control, legend, wide } = made;
    const input = made.input || control;
    const told = schema.description || schema.items?.description;
    const help = make("p", { class: "help", id: `${id}-help`, hidden: !told }, told || "");
    const error = make("p", { class: "error", id: `${id}-error`, hidden: true });
    const marks = marksOf(schema, required, facts);
    const title = legend ? make("legend", {}, name, " ", ...marks) : make("div", { class: "label" }, make("label", { for: id }, name), ...marks);
    const about = { class: wide ? "field wide" : "field", "data-field": place, "aria-describedby": legend ? `${id}-help ${id}-error` : undefined };
    const element = make(legend ? "fieldset" : "div", about, title, control, help, error);

    function fail(text) {
      error.hidden = !text;
      error.textContent = text;
      element.classList.toggle("wrong", Boolean(text));
      if (!legend) text ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    }

    const field = { name, element, read: made.read, fill: made.fill, fail, focus: () => (legend ? find("input", control) : input).focus() };
    if ((facts?.null || typesOf(schema).includes("null")) && !legend) addNull(field, title, control, input);
    if (facts?.finder) Finder.addTo(field, control, name, facts.finder, tool);
    element.addEventListener("input", () => fail(""));
    return field;
  }

  /** A switch for the value null, which no control can hold. */
  function addNull(field, title, control, input) {
    const { read, fill } = field;
    let isNull = false;
    const turn = (on) => {
      isNull = on;
      input.disabled = on;
      switching.setAttribute("aria-pressed", on);
    };
    const switching = button("null", { class: "null", "aria-pressed": "false", "aria-label": phrase(gettext("Send %(name)s as null"), field) }, () => turn(!isNull));
    title.append(switching);
    field.read = () => (isNull ? null : read());
    field.fill = (value) => {
      turn(value === null);
      fill(value === null ? undefined : value);
    };
    field.focus = () => (isNull ? switching : input).focus();
  }

  function nestFor(name, schema, required, place, tool) {
    const fields = fieldsFor(schema, place, tool);
    const inside = make("div", { class: "nest" }, ...fields.map((field) => field.element));
    const element = make("fieldset", { class: "field wide", "data-field": place }, make("legend", {}, name), inside);
    return {
      name,
      element,
      parts: () => fields,
      read: () => {
        const value = readAll(fields);
        return Object.keys(value).length || required ? value : undefined;
      },
      fill: (value) => fillAll(fields, value || {}),
    };
  }

  /** A list as rows that are added and removed, each with the fields of one item. */
  function rowsFor(name, schema, required, place, tool) {
    const id = `argument-${(count += 1)}`;
    const simple = !hasMembers(schema.items);
    // Said once, below the list.
    const told = schema.description || (simple && schema.items.description);
    const item = simple ? { ...schema.items, description: undefined } : schema.items;
    const rows = [];
    const list = make("ol", { class: simple ? "list simple" : "list" });
    const adding = button(gettext("Add a row"), { "aria-label": phrase(gettext("Add a row to %(name)s"), { name }) }, () => {
      const row = add();
      row.field.focus ? row.field.focus() : leavesOf(row.field.parts())[0]?.node.focus();
      say(phrase(gettext("Row %(number)s added to %(name)s"), { number: rows.length, name }));
    });
    const help = make("p", { class: "help", id: `${id}-help`, hidden: !told }, told || "");
    const error = make("p", { class: "error", id: `${id}-error`, hidden: true });
    const legend = make("legend", {}, name, " ", ...marksOf(schema, required));
    const element = make("fieldset", { class: "field wide", "data-field": place, "aria-describedby": `${id}-help ${id}-error` }, legend, list, adding, help, error);

    function number() {
      rows.forEach((row, at) => {
        row.field.name = at;
        const title = find(simple ? "label" : "legend", row.element);
        if (title) title.textContent = `${name} ${at + 1}`;
        row.removing.setAttribute("aria-label", phrase(gettext("Remove %(name)s %(number)s"), { name, number: at + 1 }));
      });
      list.hidden = !rows.length;
      adding.hidden = rows.length >= (schema.maxItems ?? Infinity);
      fail("");
    }

    function add(value) {
      const field = fieldFor(`${name} ${rows.length + 1}`, item, false, `${place}/*`, tool);
      const row = { field };
      row.removing = button(gettext("Remove"), { class: "remove" }, () => remove(row));
      row.element = make("li", {}, field.element, row.removing);
      rows.push(row);
      list.append(row.element);
      if (value !== undefined) field.fill(value);
      number();
      return row;
    }

    function remove(row) {
      const at = rows.indexOf(row);
      rows.splice(at, 1);
      row.element.remove();
      number();
      (rows[Math.min(at, rows.length - 1)]?.removing || adding).focus();
      say(phrase(gettext("Row %(number)s removed from %(name)s"), { number: at + 1, name }));
    }

    function fill(values) {
      for (const row of rows.splice(0)) row.element.remove();
      for (const value of [values ?? []].flat()) add(value);
      while (required && rows.length < Math.max(schema.minItems || 0, 1)) add();
      number();
    }

    function fail(text) {
      error.hidden = !text;
      error.textContent = text;
      element.classList.toggle("wrong", Boolean(text));
    }

    fill();
    return {
      name,
      element,
      fill,
      fail,
      focus: () => adding.focus(),
      parts: () => rows.map((row) => row.field),
      read: () => {
        const read = readAll(rows.map((row) => row.field));
        // A row in which nothing is written is no row, unless it is an object.
        const items = rows.map(({ field }) => read[field.name] ?? (simple ? undefined : {}));
        const written = items.filter((value) => value !== undefined);
        return written.length || required ? written : undefined;
      },
    };
  }

  function fieldsFor(schema, place, tool) {
    const required = schema.required || [];
    const fields = Object.entries(schema.properties || {})
      .map(([name, member]) => [name, member, `${place}/${escaped(name)}`])
      .filter(([, , pointer]) => pointer !== tool.controls.confirmation && pointer !== tool.controls.dry_run)
      .map(([name, member, pointer]) => fieldFor(name, member, required.includes(name), pointer, tool));
    // What is required first, and the narrow ones side by side.
    const rank = (field) => 2 * !required.includes(field.name) + field.element.matches(".wide");
    return fields.sort((one, other) => rank(one) - rank(other));
  }

  /** Every field that can show an error, with its pointer of now: rows come and go. */
  function leavesOf(fields, base = "") {
    return fields.flatMap((node) => {
      const pointer = `${base}/${escaped(node.name)}`;
      const inside = node.parts ? leavesOf(node.parts(), pointer) : [];
      return node.fail ? [...inside, { pointer, node }] : inside;
    });
  }

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
        if (!field.parts) {
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

  return { Refused, escaped, fieldsFor, leavesOf, readAll, fillAll, parsed };
})();
