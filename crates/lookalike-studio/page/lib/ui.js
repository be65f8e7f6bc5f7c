// Pieces that all screens share: fields, buttons, boxes for tables, states, explanations.

import { fresh, h } from "./dom.js";
import { count, rows } from "./format.js";
import { WORDS } from "./words.js";

/** Says a sentence to screen readers. */
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 30);
}

/** A button; `options.kind` is "main", "plain" or "danger". */
export function button(label, onclick, options = {}) {
  const { kind, ...rest } = options;
  return h("button", { type: "button", class: `button ${kind ?? ""}`, onclick, ...rest }, label);
}

/** A label above a control, with a line of help below it. */
export function field(label, control, help, options = {}) {
  control.id ||= fresh("field");
  const helpId = help ? `${control.id}-help` : null;
  if (helpId) control.setAttribute("aria-describedby", helpId);
  return h("div", { class: `field ${options.class ?? ""}` },
    h("label", { htmlFor: control.id }, label),
    options.unit ? h("div", { class: "with-unit" }, control, h("span", { class: "unit" }, options.unit)) : control,
    help ? h("p", { class: "help", id: helpId }, help) : null);
}

/** A checkbox with its label and help. */
export function check(label, checked, onchange, help, options = {}) {
  const id = options.id ?? fresh("check");
  const box = h("input", { type: "checkbox", id, checked, onchange: (event) => onchange(event.target.checked), "aria-describedby": help ? `${id}-help` : null });
  return h("div", { class: "check" }, h("div", { class: "check-line" }, box, h("label", { htmlFor: id }, label)), help ? h("p", { class: "help", id: `${id}-help` }, help) : null);
}

/** A select; `options` are [value, text]. */
export function select(options, value, onchange, properties = {}) {
  return h("select", { ...properties, onchange: (event) => onchange(event.target.value), value },
    options.map(([key, text]) => h("option", { value: key }, text)));
}

/** A word with its explanation, opened by click or Enter. */
export const word = (key, label = key) => h("details", { class: "word" }, h("summary", {}, label), h("p", {}, WORDS[key]));

/** Several words explained in one fold. */
export const words = (...keys) => h("details", { class: "words" }, h("summary", {}, "Words on this screen"),
  h("dl", {}, keys.map((key) => [h("dt", {}, key), h("dd", {}, WORDS[key])])));

/** A part that opens; whether it is open is kept in `memory[key]`, since panels are drawn again.
    (By click: the event `toggle` comes too late.) */
export function fold(title, memory, key, ...children) {
  const box = h("details", { class: "fold", open: Boolean(memory[key]) }, h("summary", { onclick: () => { memory[key] = !box.open; } }, title), children);
  return box;
}

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) hint(target);
});

function hint(box) {
  const isWide = box.scrollWidth > box.clientWidth + 1;
  box.classList.toggle("is-wide", isWide);
  if (isWide || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  if (box.nextElementSibling?.classList.contains("scroll-hint")) box.nextElementSibling.hidden = !isWide;
}

/** A table in a box of its own that scrolls sideways, and says so. */
export function tableBox(table, label, options = {}) {
  const box = h("div", { class: `table-box ${options.class ?? ""}`, role: "region", "aria-label": label, data: { scroll: label } }, table);
  const note = h("p", { class: "scroll-hint", "aria-hidden": "true" }, "more columns: scroll sideways →");
  note.hidden = true;
  watcher.observe(box);
  watcher.observe(table);
  return h("div", { class: "table-frame" }, box, note);
}
new MutationObserver(() => document.querySelectorAll(".table-box").forEach(hint)).observe(document.documentElement, { childList: true, subtree: true });

/** A table of texts: `heads` are names or [name, class]; cells are nodes or texts. */
export function table(caption, heads, lines) {
  const kinds = heads.map((head) => Array.isArray(head) ? head[1] : "");
  return h("table", {}, caption ? h("caption", { class: "hidden-text" }, caption) : null,
    h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { scope: "col", class: kinds[at] }, Array.isArray(head) ? head[0] : head)))),
    h("tbody", {}, lines.map((line) => h("tr", {}, line.map((cell, at) => h(at === 0 ? "th" : "td", { class: kinds[at], scope: at === 0 ? "row" : null }, cell))))));
}

export const loading = (text) => h("p", { class: "state", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), text);
export const empty = (text, ...actions) => h("div", { class: "state empty" }, h("p", {}, text), h("p", {}, actions));

/** An error with the way out; `again` tries once more. */
export function errorBox(error, again) {
  const place = [error.column ? `column ${error.column}` : null, error.row ? `row ${error.row}` : null].filter(Boolean).join(", ");
  return h("div", { class: "box bad", role: "alert" },
    h("p", {}, h("strong", {}, place ? `Error (${place}): ` : "Error: "), error.message),
    again ? button("Try again", again) : null);
}

/** A line with a mark that is not colour alone: "good" ✓, "bad" ✗, "warn" !, "note" i. */
export const mark = (kind, ...text) => h("p", { class: `mark ${kind}` },
  h("span", { class: "sign", role: "img", "aria-label": { good: "ok", bad: "broken", warn: "warning", note: "note" }[kind] }, { good: "✓", bad: "✗", warn: "!", note: "i" }[kind]), h("span", {}, ...text));

export const warnings = (list) => list?.length ? h("div", { class: "warnings" }, list.map((text) => mark("warn", text))) : null;

/** A rule line as the auditor prints it: "ok  k = 5 …" or "broken  …". */
export function ruleLine(text) {
  const isOk = /^\s*(ok|holds|true)\b/i.test(text);
  const isBroken = /^\s*(broken|leak|fails?|failed|false|not ok|no)\b/i.test(text);
  return mark(isOk ? "good" : isBroken ? "bad" : "note", text.replace(/^\s*(ok|holds|true|broken|leak|fails?|failed|false)\s+/i, ""));
}

/** All rule lines: what is not satisfied first; of many satisfied ones the first four, the others in a fold. */
export function ruleLines(lines) {
  const isOk = (text) => /^\s*(ok|holds|true)\b/i.test(text);
  const good = (lines ?? []).filter(isOk).sort((one, other) => one.localeCompare(other, undefined, { numeric: true }));
  const few = good.length > 6 ? good.slice(0, 4) : good;
  return h("div", { class: "rule-lines" }, (lines ?? []).filter((text) => !isOk(text)).map(ruleLine), few.map(ruleLine),
    good.length > few.length ? h("details", { class: "fold" }, h("summary", {}, `${good.length - few.length} more rules, all satisfied`), good.slice(few.length).map(ruleLine)) : null);
}

/** What somebody must know before a release goes out. */
export function cautions({ unique_published: unique, dropped, columns, warnings: said }) {
  const names = (unique?.columns ?? []).map((column) => column?.column ?? column).join(", ");
  return h("div", { class: "cautions" },
    unique?.rows ? mark("bad", h("strong", {}, `${rows(unique.rows)} ${unique.rows === 1 ? "is" : "are"} unique on the columns that are not made coarser for k: `), `${names}. Whoever knows these values of a person finds the row, whatever k is. Drop such a column, round it, or make it a quasi-identifier on screen 1.`) : null,
    dropped?.length ? mark("note", `${count(dropped.length)} of ${rows(columns, "column")} ${dropped.length === 1 ? "is" : "are"} not in the release: ${dropped.join(", ")}. The loss does not count them.`) : null,
    warnings(said));
}

/** A bar of a share, with its text beside it. */
export function shareBar(part, text, kind = "") {
  const fill = h("span", { class: `fill ${kind}` });
  fill.style.setProperty("width", `${Math.max(0, Math.min(1, part || 0)) * 100}%`);
  return h("span", { class: "share" }, h("span", { class: "track", "aria-hidden": "true" }, fill), h("span", {}, text));
}

/** A text with a button that copies it. */
export function copyBox(label, text) {
  const said = h("span", { class: "help", "aria-live": "polite" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      said.textContent = "selected: press Ctrl+C";
    }
    setTimeout(() => { said.textContent = ""; }, 4000);
  };
  const code = h("code", {}, text);
  return h("div", { class: "copy" },
    h("div", { class: "copy-head" }, h("span", { class: "label" }, label), said, button("Copy", copy, { kind: "small", "aria-label": `Copy: ${label}` })),
    h("pre", { tabIndex: 0, role: "group", "aria-label": label }, code));
}

/** A dialog of the page (no alert or prompt); removed when closed. */
export function dialog(title, content, actions) {
  const id = fresh("dialog");
  const box = h("dialog", { "aria-labelledby": id, onclose: () => box.remove() },
    h("h2", { id }, title), content,
    h("div", { class: "actions" }, actions((value) => box.close(value)), button("Close", () => box.close())));
  document.body.append(box);
  box.showModal();
  return box;
}

/** A group of radio buttons that looks like a switch. `options` are [value, label, title]. */
export function radios(label, name, options, value, onchange) {
  return h("div", { class: "radios", role: "radiogroup", "aria-label": label },
    options.map(([key, text, title]) => {
      const id = `${name}-${key}`;
      return h("span", { class: "radio", title },
        h("input", { type: "radio", name, id, value: key, checked: key === value, onchange: () => onchange(key) }), h("label", { htmlFor: id }, text));
    }));
}
