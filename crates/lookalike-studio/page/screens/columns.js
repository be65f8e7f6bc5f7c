// Screen 1: each column gets a role; the share of unique rows follows at once.

import { address, get, isAbort } from "../lib/api.js";
import { h, redraw } from "../lib/dom.js";
import { count, number, rows, share } from "../lib/format.js";
import { clearRole, columnOf, columnsWith, edit, loadColumns, roleOf, setIn, setKey, setRole, setRoles, store, strangers, wantMeasure } from "../lib/store.js";
import { announce, button, check, errorBox, field, fold, loading, mark, radios, select, shareBar, warnings, words } from "../lib/ui.js";
import { ROLES, roleName } from "../lib/words.js";

const ORDERS = [["suggested", "suggested order"], ["table", "order of the table"], ["unique", "most unique first"], ["undecided", "undecided first"]];

export function mount(root, scope) {
  const body = h("div", {});
  const side = h("aside", { class: "side", "aria-label": "Unique rows" });
  const state = { order: scope.memory.order ?? "suggested", open: new Set(scope.memory.open ?? []), find: scope.memory.find ?? "", picked: new Set(), anchor: null };
  scope.end(() => Object.assign(scope.memory, { order: state.order, open: [...state.open], find: state.find }));
  redraw(root,
    h("div", { class: "screen-head" }, h("h2", {}, "Columns"),
      h("p", { class: "intro" }, "Give every column a role. A ", h("strong", {}, "quasi-identifier"), " is a column that others may know of a person and could join with outside data, such as age or postcode: it is published less exactly.")),
    h("div", { class: "with-side" }, body, side), words("quasi-identifier", "sensitive", "identifier", "keep", "person", "weight", "unique", "hierarchy"));
  scope.end(wantMeasure());
  const drawAll = (error) => drawBody(body, state, scope, drawAll, error);
  state.blame = scope.memory.blame ?? matchMedia("(min-width: 74rem)").matches;
  scope.end(() => { scope.memory.blame = state.blame; });
  const drawSide = () => drawUnique(side, state);
  scope.on("columns", drawAll);
  scope.on("measure", drawSide);
  scope.on("edit", () => drawCounts(body));
  drawAll();
  drawSide();
  if (!store.columns) loadColumns();
}

const needsDecision = (column) => !roleOf(column.name) && (column.open || !store.draft.rest);

function sorted(columns, order) {
  const list = [...columns];
  const groups = { sensitive: 1, keep: 2, weight: 3, person: 4, identifier: 5 };
  const place = (column) => column.rank ?? 1000 * (groups[column.suggested] ?? 6);
  if (order === "suggested") list.sort((one, other) => place(one) - place(other));
  if (order === "unique") list.sort((one, other) => other.unique - one.unique || other.distinct - one.distinct);
  if (order === "undecided") list.sort((one, other) => needsDecision(other) - needsDecision(one));
  return list;
}

function drawBody(body, state, scope, again, error) {
  if (error instanceof Error) { redraw(body, errorBox(error, loadColumns)); return; }
  if (!store.columns) { redraw(body, loading("Reading the columns …")); return; }
  const { columns } = store.columns;
  const shown = state.shown = sorted(columns, state.order).filter((column) => column.name.toLowerCase().includes(state.find.toLowerCase()));
  redraw(body,
    h("div", { class: "tools" },
      h("p", { class: "counts", id: "counts", role: "status" }, countText()),
      h("span", { class: "grow" }),
      columns.length > 12 ? h("label", { class: "inline-label" }, "find ", h("input", { type: "search", id: "find-column", value: state.find, oninput: (event) => { state.find = event.target.value; again(); } })) : null,
      h("label", { class: "inline-label" }, "order ", select(ORDERS, state.order, (value) => { state.order = value; again(); }, { id: "order-columns" }))),
    strangersBox(again),
    pickedBar(columns, state, again),
    h("table", { class: "cards", role: "table", onkeydown: (event) => pickKeys(state, again, event) },
      h("caption", { class: "hidden-text" }, "Columns of the table and their roles"),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, [h("span", {}, pickAll(shown, state, again), "column"), "values", "unique", "role", "hierarchy", "why"].map((name, at) => h("th", { scope: "col", role: "columnheader", class: at === 1 || at === 2 ? "number" : "" }, name)))),
      h("tbody", { role: "rowgroup" }, shown.map((column) => line(column, state, scope, again)).flat())),
    shown.length ? null : h("p", { class: "state" }, "No column has that in its name."),
    restBox(columns, again));
}

function countText() {
  const { columns } = store.columns;
  const open = columns.filter(needsDecision).length;
  const quasi = columnsWith("quasi").length;
  return `${rows(columns.length, "column")}, ${rows(quasi, "quasi-identifier")}. ${open ? `${count(open)} of ${count(columns.length)} still ${open === 1 ? "needs" : "need"} a decision${store.draft.rest === "drop" ? ", and will not be in the release until then" : ""}.` : "Every column is decided."}`;
}

function drawCounts(body) {
  const place = body.querySelector("#counts");
  if (place && store.columns) place.textContent = countText();
}

const cell = (label, kind, ...children) => h("td", { role: "cell", class: kind, data: { label } }, ...children);

function line(column, state, scope, again) {
  const { name } = column;
  const isOpen = state.open.has(name);
  const toggle = () => { if (!state.open.delete(name)) state.open.add(name); again(); };
  const choose = (role) => { setRole(name, role); again(); };
  const row = h("tr", { role: "row", class: `${needsDecision(column) ? "undecided" : ""} ${state.picked.has(name) ? "picked-line" : ""}` },
    h("th", { role: "rowheader", scope: "row", class: "name-cell" },
      h("input", { type: "checkbox", class: "pick", id: `pick-${name}`, checked: state.picked.has(name), "aria-label": `Select ${name}`, onclick: (event) => pick(name, event.shiftKey, state, again) }),
      h("button", { type: "button", class: "expander", id: `more-${name}`, "aria-expanded": isOpen, onclick: toggle, title: "Examples, values and settings" }, h("span", { class: "arrow", "aria-hidden": "true" }, "▸"), name),
      h("span", { class: "examples" }, column.examples?.length ? column.examples.slice(0, 3).join(", ") : "no values")),
    cell("values", "number", count(column.distinct), column.missing ? h("span", { class: "sub" }, `${count(column.missing)} missing`) : null),
    cell("unique", "number", share(column.unique)),
    cell("role", "role-cell", radios(`Role of ${name}`, `role-${name}`, ROLES.map(([key, label, help]) => [key, label, help]), roleOf(name), choose), decision(column, again)),
    cell("hierarchy", "", hierarchyState(column, scope)),
    cell("why", "why", columnOf(name)?.reason ?? column.reason ?? ""));
  return isOpen ? [row, h("tr", { role: "row", class: "detail" }, h("td", { role: "cell", colspan: 6 }, detail(column, scope, again)))] : [row];
}

// Several columns at once

function pickAll(shown, state, again) {
  const picked = shown.filter((column) => state.picked.has(column.name)).length;
  const all = () => { const isAll = picked === shown.length; shown.forEach(({ name }) => { if (isAll) state.picked.delete(name); else state.picked.add(name); }); again(); };
  return h("input", { type: "checkbox", class: "pick", id: "pick-all", checked: picked > 0 && picked === shown.length, indeterminate: picked > 0 && picked < shown.length, "aria-label": "Select all columns that are shown", onclick: all });
}

/** Selects or leaves a column; with Shift all from the last one to it become as that one is. */
function pick(name, isRange, state, again) {
  const names = state.shown.map((column) => column.name);
  const from = names.indexOf(state.anchor);
  const to = names.indexOf(name);
  if (isRange && from >= 0) {
    const isOn = state.picked.has(state.anchor);
    names.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((other) => { if (isOn) state.picked.add(other); else state.picked.delete(other); });
  } else {
    if (!state.picked.delete(name)) state.picked.add(name);
    state.anchor = name;
  }
  announce(`${rows(state.picked.size, "column")} selected`);
  again();
}

/** In the checkboxes: arrows go from line to line, with Shift they select, Ctrl+A selects all, Escape none. */
function pickKeys(state, again, event) {
  if (!event.target.matches(".pick") || event.target.id === "pick-all") return;
  const names = state.shown.map((column) => column.name);
  const at = names.findIndex((name) => event.target.id === `pick-${name}`);
  const next = names[at + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? NaN)];
  const isAll = event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey);
  if (!next && !isAll && event.key !== "Escape") return;
  event.preventDefault();
  if (isAll) names.forEach((name) => state.picked.add(name));
  else if (!next) state.picked.clear();
  else if (event.shiftKey) { state.picked.add(names[at]); state.anchor = names[at]; pick(next, true, state, again); }
  if (!next || !event.shiftKey) again();
  document.getElementById(`pick-${next ?? names[at]}`)?.focus();
}

function pickedBar(columns, state, again) {
  const open = columns.filter(needsDecision);
  const n = state.picked.size;
  const give = (role, said) => { setRoles([...state.picked], role); announce(`${rows(n, "column")}: ${said}`); state.picked.clear(); again(); };
  if (!n) {
    return open.length > 1 ? h("div", { class: "tools" }, button(`Select the ${count(open.length)} that need a decision`, () => { open.forEach(({ name }) => state.picked.add(name)); again(); document.getElementById("picked-keep")?.focus(); }, { kind: "small", id: "pick-open" }), h("span", { class: "help" }, "or tick lines (Shift for a range) to give several columns one role")) : null;
  }
  return h("div", { class: "tools picked", role: "group", "aria-label": "Role of the selected columns" }, h("strong", {}, `${rows(n, "column")} selected:`),
    ROLES.map(([key, label, help]) => button(label, () => give(key, label), { kind: "small", id: `picked-${key}`, title: help })),
    button("No role", () => give(null, "no role"), { kind: "small", id: "picked-none" }),
    button("Select none", () => { state.picked.clear(); again(); }, { kind: "small", id: "picked-clear" }));
}

/** A column that was renamed or is gone: its line is an error, and can be taken away. */
function strangersBox(again) {
  const names = strangers();
  if (!names.length) return null;
  const remove = () => { setRoles(names, null); again(); };
  return h("div", { class: "tools" }, mark("bad", `The table has no column ${names.join(", ")}, but the configuration has a line for ${names.length === 1 ? "it" : "each"}. Give the column with the new name its role, then:`),
    button(names.length === 1 ? "Remove the line" : "Remove these lines", remove, { kind: "small", id: "remove-strangers" }));
}

function decision(column, again) {
  const role = roleOf(column.name);
  if (needsDecision(column)) return h("span", { class: "decide" }, h("span", { class: "sign", "aria-hidden": "true" }, "?"), column.suggested && column.suggested !== "keep" ? `decide: ${roleName(column.suggested)}, or drop it?` : "decide: keep or drop?");
  if (!role) return h("span", { class: "sub" }, store.draft.rest === "keep" ? "no role: published unchanged" : "no role: dropped");
  if (role !== column.suggested && column.suggested && !column.open) return h("span", { class: "sub" }, `suggested: ${roleName(column.suggested)}`);
  return null;
}

const STATES = { none: "○", whole: "●", partly: "◐", broken: "✗" };

function hierarchyState(column, scope) {
  const role = roleOf(column.name);
  if (role !== "quasi" && role !== "sensitive") return "–";
  const { state = "none", text, missing } = column.hierarchy ?? {};
  const said = state === "none" ? "none" : missing ? `${count(missing)} of ${count(column.distinct)} missing` : text || state;
  const open = () => { sessionStorage.setItem("lookalike-column", column.name); scope.go("hierarchies"); };
  return h("button", { type: "button", class: `link ${state === "broken" ? "bad" : ""}`, onclick: open, "aria-label": `Hierarchy of ${column.name}: ${said}. Edit` }, h("span", { "aria-hidden": "true" }, `${STATES[state]} `), said);
}

function detail(column, scope, again) {
  const { name } = column;
  const own = columnOf(name);
  const values = h("div", {}, loading("Reading the values …"));
  loadValues(values, name, scope);
  return h("div", { class: "detail-grid" },
    h("div", {}, h("h3", {}, "Most frequent values"), values),
    h("div", {}, h("h3", {}, "Settings"), own ? settings(name, own, column, again) : h("p", { class: "help" }, "Choose a role first.")));
}

async function loadValues(place, name, scope) {
  try {
    const answer = await get(address(["columns", name, "values"], { from: 0, limit: 12, order: "rows" }), { signal: scope.signal });
    const total = store.project.rows;
    redraw(place, h("ul", { class: "value-list" }, answer.values.map(({ value, rows: n }) => h("li", {}, h("span", { class: "value" }, value ?? "(missing)"), shareBar(n / total, count(n))))),
      answer.total > answer.values.length ? h("p", { class: "help" }, `and ${count(answer.total - answer.values.length)} more`) : null);
  } catch (error) { if (!isAbort(error)) redraw(place, errorBox(error)); }
}

function settings(name, own, column, again) {
  const text = (key, label, help) => field(label, h("input", { type: "text", id: `set-${name}-${key}`, value: own[key] ?? "", oninput: (event) => setKey(name, key, event.target.value.trim()) }), help);
  const figure = (key, label, help) => field(label, h("input", { type: "text", inputmode: "decimal", size: 8, id: `set-${name}-${key}`, value: own[key] ?? "", oninput: (event) => setKey(name, key, number(event.target.value)) }), help);
  const kinds = [["", `found from the cells (${column.kind})`], ["numeric", "numeric: numbers"], ["date", "date"], ["categorical", "categorical: labels without order"], ["ordinal", "ordinal: labels in an order"]];
  const isPublished = own.role === "keep" || own.role === "sensitive";
  return h("div", { class: "fields" },
    text("reason", "Why it has this role", "goes into the report"),
    own.role === "quasi" || isPublished ? field("Kind", select(kinds, own.kind ?? "", (value) => setKey(name, "kind", value), { id: `set-${name}-kind` })) : null,
    ["quasi", "sensitive", "weight"].includes(own.role) ? text("format", "How its numbers or dates are written", "such as 1.234,5 or dd.mm.yyyy, where they are not plain") : null,
    own.role === "quasi" ? figure("weight", "Weight in the loss", "2 spares this column twice as much as others; 1 when empty") : null,
    isPublished && column.kind === "numeric" ? figure("round", "Publish rounded to", "multiples of this number") : null,
    isPublished && column.kind === "numeric" ? figure("bottom", "Smaller numbers as") : null,
    isPublished && column.kind === "numeric" ? figure("top", "Greater numbers as") : null,
    isPublished ? check("Publish although it gives away a quasi-identifier", own.dependent === true, (value) => setKey(name, "dependent", value || null), "otherwise such a column is refused", { id: `set-${name}-dependent` }) : null,
    own.role === "identifier" ? check("Publish a keyed hash in place of dropping it", own.hash === true, (value) => setKey(name, "hash", value || null), null, { id: `set-${name}-hash` }) : null,
    button("Take the role away", () => { clearRole(name); again(); }, { kind: "small" }));
}

function restBox(columns, again) {
  const without = columns.filter((column) => !roleOf(column.name)).length;
  const options = [["", "ask for a decision on each"], ["drop", "drop them"], ["keep", "publish them unchanged"]];
  return h("div", { class: "tools below" }, field(`Columns without a role (${count(without)} now)`,
    select(options, store.draft.rest ?? "", (value) => { edit((draft) => { setIn(draft, "rest", value); if (value !== "keep") delete draft.accept_unique; }); again(); }, { id: "rest" })),
    store.draft.rest === "keep" ? check("Publish them although rows are unique on them", store.draft.accept_unique === true, (value) => edit((draft) => setIn(draft, "accept_unique", value || null)), null, { id: "accept-unique" }) : null,
    field("Texts that mean a missing value", h("input", { type: "text", id: "missing-texts", value: (store.draft.missing ?? []).join("; "), placeholder: "NA; unknown", oninput: (event) => {
      const list = event.target.value.split(";").map((text) => text.trim()).filter(Boolean);
      edit((draft) => setIn(draft, "missing", list.length ? list : null));
    } }), "with ; between, beside empty cells"));
}

// The side: unique rows

function drawUnique(side, state) {
  const { measure } = store;
  if (!measure) { redraw(side, loading("Counting unique rows …")); return; }
  if (measure.error) { redraw(side, h("h3", {}, "Unique rows"), errorBox(measure.error)); return; }
  const n = measure.quasi.length;
  const unit = measure.unit === "persons" ? "person" : "row";
  redraw(side,
    h("div", { role: "status", class: store.measuring ? "old" : "" },
      n ? h("p", { class: "big" }, `${n === 1 ? "This column" : `These ${n} columns`}: ${share(measure.unique / measure.rows)} of rows are unique`) : h("p", {}, "No column is a quasi-identifier yet."),
      n ? h("p", { class: "sub" }, `${rows(measure.unique, unit)}${unit === "row" ? ` of ${count(measure.rows)}` : ""} ${measure.unique === 1 ? "has" : "have"} values that no other ${unit} has. ${rows(measure.below_k, unit)} ${measure.below_k === 1 ? "is" : "are"} in classes of less than k = ${count(measure.k)}.`) : null),
    fold(measure.unique_published || measure.warnings?.length ? "Which columns are to blame, warnings" : "Which columns are to blame", state, "blame", blame(measure),
    measure.unique_published ? mark("warn", `${rows(measure.unique_published.rows)} ${measure.unique_published.rows === 1 ? "is" : "are"} unique on columns that are published unchanged (${measure.unique_published.columns.join(", ")}). k does not protect them from somebody who knows these values.`) : null,
    warnings(measure.warnings),
    store.project.warnings?.length ? fold("Notes of reading the table", state, "notes", warnings(store.project.warnings)) : null));
}

function blame(measure) {
  if (!measure.without?.length) return measure.quasi.length > 1 ? h("p", { class: "help" }, "Which columns are to blame is shown for fewer quasi-identifiers.") : null;
  const of = measure.counted || measure.rows;
  const alone = new Map(measure.alone.map((line) => [line.column, line.unique]));
  const lines = [...measure.without].sort((one, other) => one.unique - other.unique);
  return h("div", {},
    h("table", { class: "tight" }, h("caption", { class: "hidden-text" }, "Unique rows without each column, and on it alone"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "column"), h("th", { scope: "col" }, "without it"), h("th", { scope: "col", class: "number" }, "alone"))),
      h("tbody", {}, lines.map(({ column, unique }) => h("tr", {}, h("th", { scope: "row" }, column), h("td", {}, shareBar(unique / of, share(unique / of))), h("td", { class: "number" }, share((alone.get(column) ?? 0) / of)))))),
    h("p", { class: "help" }, "“Without it”: share of rows that are unique on the other quasi-identifiers. The first line helps most.", of < measure.rows ? ` Counted in ${count(of)} rows.` : ""));
}
