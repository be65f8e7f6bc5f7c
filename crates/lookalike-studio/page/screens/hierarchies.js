// Screen 2: the hierarchy of a column as a table with a column a level. There is one hierarchy,
// the one that the configuration names; the table shows that one, or says that it is a preview.

import { address, get, isAbort, post, put } from "../lib/api.js";
import { barList } from "../lib/charts.js";
import { debounce, h, redraw } from "../lib/dom.js";
import { between, count, number, numbersOf, rows, share } from "../lib/format.js";
import { columnsWith, flush, loadColumns, ours, refresh, roleOf, store } from "../lib/store.js";
import { announce, button, empty, errorBox, field, fold, loading, mark, radios, shareBar, table, tableBox, words } from "../lib/ui.js";

const PAGE = 200;
const MAKERS = [["none", "None"], ["intervals", "Intervals"], ["prefix", "Masking"], ["date", "Dates"], ["builtin", "Ready-made"], ["groups", "Groups"]];
const UNITS = ["day", "week", "month", "quarter", "half-year", "year", "five-years", "decade"];

export function mount(root, scope) {
  const screen = { root, scope, memory: scope.memory, view: null, trial: null, last: -1 };
  const { memory } = screen;
  memory.selected ??= new Set();
  memory.column = sessionStorage.getItem("lookalike-column") ?? memory.column;
  scope.on("columns", () => { if (!screen.view) begin(screen); else drawPicker(screen); });
  scope.end(() => screen.asked?.abort());
  if (store.columns) begin(screen);
  else { redraw(root, h("h2", {}, "Hierarchies"), loading("Reading the columns …")); loadColumns(); }
}

function begin(screen) {
  const names = pickable();
  const { memory, root, scope } = screen;
  if (!names.length) {
    redraw(root, h("h2", {}, "Hierarchies"), empty("Hierarchies are for quasi-identifiers, and no column has that role yet.", button("Choose roles on screen 1", () => scope.go("columns"), { kind: "main" })));
    return;
  }
  if (!names.includes(memory.column)) choose(screen, names[0], false);
  screen.picker = h("div", {});
  screen.body = h("div", {}, loading("Reading the hierarchy …"));
  redraw(root, h("div", { class: "screen-head" }, h("h2", {}, "Hierarchies"),
    h("p", { class: "intro" }, "A ", h("strong", {}, "hierarchy"), " says which groups may be published in place of a value: nurse → Health → Services → * (anything). Numbers and dates can do without; labels without one can only become *.")),
  screen.picker, screen.body, words("hierarchy", "level", "quasi-identifier"));
  root.onpaste = (event) => pasted(screen, event);
  drawPicker(screen);
  load(screen);
}

const pickable = () => [...columnsWith("quasi"), ...columnsWith("sensitive")];

function choose(screen, name, isLoading = true) {
  const { memory } = screen;
  Object.assign(memory, { column: name, find: "", only: "", from: 0, level: 1, group: "" });
  memory.selected = new Set();
  screen.trial = null;
  sessionStorage.setItem("lookalike-column", name);
  if (!isLoading) return;
  screen.view = null;
  drawPicker(screen);
  redraw(screen.body, loading("Reading the hierarchy …"));
  load(screen);
}

const SIGNS = { none: "○", whole: "●", partly: "◐", broken: "✗" };

function drawPicker(screen) {
  if (!screen.picker) return;
  const chips = pickable().map((name) => {
    const { state = "none", missing, text } = store.columns.columns.find((column) => column.name === name)?.hierarchy ?? {};
    const said = state === "none" ? "no hierarchy" : missing ? `${count(missing)} missing` : text || state;
    return h("button", { type: "button", class: "chip", id: `pick-${name}`, "aria-current": name === screen.memory.column ? "true" : null, title: said, onclick: () => choose(screen, name) },
      h("span", { role: "img", "aria-label": said, class: "sign" }, SIGNS[state]), name, roleOf(name) === "sensitive" ? h("span", { class: "sub" }, " sensitive") : null);
  });
  redraw(screen.picker, h("nav", { class: "chips", "aria-label": "Columns with a hierarchy" }, chips));
}

// Reading

const path = (screen, ...more) => ["columns", screen.memory.column, "hierarchy", ...more];

async function load(screen) {
  const { memory } = screen;
  screen.asked?.abort();
  screen.asked = new AbortController();
  try {
    const view = await get(address(path(screen), { find: memory.find, from: memory.from || 0, limit: PAGE, only: memory.only }), { signal: screen.asked.signal });
    screen.view = view;
    draw(screen);
  } catch (error) { if (!isAbort(error)) redraw(screen.body, errorBox(error, () => load(screen))); }
}

/** Runs a change on the server, then reads the lines again with the present filter. */
async function change(screen, act, said) {
  screen.problem = null;
  try {
    if (!await flush()) throw store.saveError ?? new Error("The configuration is not saved yet.");
    await ours(async () => { await act(); await refresh(false); });
    screen.trial = null;
    await load(screen);
    loadColumns();
    if (said) announce(said);
  } catch (error) {
    if (isAbort(error)) return;
    screen.problem = error;
    draw(screen);
  }
}

// Drawing

const shownView = (screen) => screen.trial?.view ?? screen.view;

function draw(screen) {
  const { view, trial } = screen;
  const shown = shownView(screen);
  redraw(screen.body,
    h("section", { class: "panel" }, head(screen, view), makerLine(screen, view), trial ? trialBox(screen) : null),
    screen.problem ? errorBox(screen.problem) : null,
    h("div", { class: "warnings" }, problems(shown)),
    h("section", { class: `panel ${trial ? "preview" : ""}` }, trial ? mark("note", h("strong", {}, "Preview. "), trialText(trial)) : null, tools(screen, shown), lines(screen, shown), pager(screen, shown), trial ? null : groupsBox(screen, shown)),
    trial ? null : importBox(screen));
}

function trialText(trial) {
  if (trial.maker === "none") return "The hierarchy is still in use: choose “Remove the hierarchy” above.";
  return trial.maker === "groups" && !trial.rows ? "Nothing is changed yet: choose one of the two ways above." : "Not used yet: choose “Use it” above.";
}

function sourceText(view) {
  if (view.source === "file") return `file ${view.file}`;
  if (view.source === "rows") return "lines in the configuration";
  if (view.source === "none") return "no hierarchy";
  if (view.source === "builtin") return `ready-made: ${String(view.spec).replace("builtin:", "")}`;
  const spec = view.spec ?? {};
  return `${view.source}: ${(spec.intervals ?? spec.prefix ?? spec.date ?? []).join(", ")}`;
}

function head(screen, view) {
  const all = view.total;
  const part = all ? view.covered / all : 0;
  return h("div", { class: "hierarchy-head" },
    h("h3", {}, screen.memory.column, h("span", { class: "sub" }, ` ${sourceText(view)}`)),
    h("div", { class: "coverage", role: "status" }, view.source === "none" ? h("span", {}, `${count(all)} values, none has a group`) : shareBar(part, `${count(view.covered)} of ${count(all)} values have a group`, part < 1 ? "warn" : "")));
}

const makerOf = (view) => ({ file: "groups", rows: "groups" })[view.source] ?? view.source;

function makerLine(screen, view) {
  const now = screen.trial?.maker ?? makerOf(view);
  const profile = store.columns.columns.find((column) => column.name === screen.memory.column);
  const fits = { numeric: ["none", "intervals", "prefix", "groups", "builtin"], date: ["none", "date", "groups", "builtin"] }[view.kind ?? profile?.kind] ?? ["none", "prefix", "builtin", "groups"];
  const options = MAKERS.filter(([key]) => fits.includes(key) || key === now);
  const canChange = !screen.trial && !["none", "groups"].includes(now);
  return h("div", { class: "maker tools" }, radios("How the groups are made", "maker", options, now, (maker) => startTrial(screen, maker)),
    canChange ? button({ builtin: "Choose another" }[now] ?? "Change", () => startTrial(screen, now), { kind: "small", id: "change-trial" }) : null);
}

function problems(view) {
  return [
    (view.problems ?? []).map((text) => mark("warn", text)),
    view.unused ? mark("note", `${rows(view.unused, "line")} of the hierarchy ${view.unused === 1 ? "is" : "are"} about values that no row has.`) : null,
    (view.misspelt ?? []).map(({ label, value }) => mark("warn", `“${label}” in the hierarchy is probably “${value}” in the table: misspelt?`)),
  ];
}

// A trial: a hierarchy that is shown before it is used

function startTrial(screen, maker) {
  const { view } = screen;
  screen.problem = null;
  if (maker === makerOf(view)) screen.trial = maker === "none" || maker === "groups" ? null : trialOf(screen, maker);
  else screen.trial = trialOf(screen, maker);
  draw(screen);
  document.getElementById(`maker-${maker}`)?.focus({ preventScroll: true });
  if (screen.trial) preview(screen);
}

function trialOf(screen, maker) {
  const spec = screen.view.spec && typeof screen.view.spec === "object" ? screen.view.spec : {};
  const fitting = byFit(screen.view).find((builtin) => builtin.fits > 0);
  return { maker, intervals: (spec.intervals ?? [5, 10, 20]).join(between), origin: spec.origin ?? "", bottom: spec.bottom ?? "", top: spec.top ?? "",
    prefix: (spec.prefix ?? [4, 3, 2]).join(between), date: spec.date ?? ["month", "quarter", "year", "decade"], builtin: screen.view.source === "builtin" ? screen.view.spec : fitting?.name ?? null, view: null, error: null };
}

function specOf(trial) {
  if (trial.maker === "intervals") {
    const spec = { intervals: numbersOf(trial.intervals) };
    for (const key of ["origin", "bottom", "top"]) if (number(trial[key]) !== null) spec[key] = number(trial[key]);
    return spec;
  }
  if (trial.maker === "prefix") return { prefix: numbersOf(trial.prefix) };
  if (trial.maker === "date") return { date: UNITS.filter((unit) => trial.date.includes(unit)) };
  return trial.maker === "builtin" ? trial.builtin : null;
}

async function preview(screen) {
  const { trial } = screen;
  if (trial.maker === "none" || trial.maker === "builtin" && !trial.builtin) return;
  if (trial.maker === "groups" && !trial.rows) return;
  screen.previewing?.abort();
  screen.previewing = new AbortController();
  try {
    const body = trial.rows ? { rows: trial.rows } : { spec: specOf(trial) };
    trial.view = await post(address(path(screen, "preview")), body, { signal: screen.previewing.signal });
    trial.error = null;
  } catch (error) {
    if (isAbort(error)) return;
    trial.error = error;
  }
  if (screen.trial === trial) draw(screen);
}
const previewSoon = debounce(250, preview);

function useTrial(screen) {
  const { trial, memory } = screen;
  if (trial.rows) return change(screen, () => put(address(path(screen)), { rows: trial.rows, file: fileOf(screen) }), "The hierarchy was saved.");
  memory.from = 0;
  return change(screen, () => put(address(path(screen)), { spec: specOf(trial) }), "The hierarchy is in use.");
}

const fileOf = (screen) => screen.view.file ?? `${screen.memory.column.replace(/[^\p{L}\p{N}_-]+/gu, "-")}.csv`;

function trialBox(screen) {
  const { trial } = screen;
  const cancel = () => { screen.trial = null; draw(screen); };
  const canUse = trial.maker === "none" || trial.view && !trial.error && levelsOf(trial.view) > 0;
  return h("div", { class: "trial" }, trialForm(screen),
    trial.error ? errorBox(trial.error) : null,
    trial.view?.sizes ? sizes(trial.view.sizes.slice(0, Math.max(0, levelsOf(trial.view) - 1))) : null,
    h("div", { class: "actions" }, trial.maker === "groups" && !trial.rows ? null : button(trial.maker === "none" ? "Remove the hierarchy" : "Use it", () => useTrial(screen), { kind: "main", id: "use-trial", disabled: !canUse }), button("Cancel", cancel, { id: "cancel-trial" })));
}

function sizes(levels) {
  return h("div", { class: "sizes" }, levels.map((list, at) => h("details", { class: "fold", open: at === 0 }, h("summary", {}, `Level ${at + 1}: ${rows(list.length, "group")}${list.length >= 60 ? " or more" : ""}`),
    barList(list.map((group) => ({ label: group.label, value: group.rows, text: rows(group.rows) })), `Rows of each group on level ${at + 1}`))));
}

function trialForm(screen) {
  const { trial, view } = screen;
  const input = (key, label, help, extra = {}) => field(label, h("input", { type: "text", inputmode: "decimal", id: `trial-${key}`, value: trial[key], oninput: (event) => { trial[key] = event.target.value; previewSoon(screen); }, ...extra }), help);
  if (trial.maker === "intervals") {
    return h("div", { class: "fields" }, input("intervals", "Widths, finest first", `${[5, 10, 20].join(between)}: bands of 5, then of 10, then of 20. Each a multiple of the one before.`),
      input("origin", "Begin at", "0 when empty", { size: 6 }), input("bottom", "One band below", "such as 20: under 20 is one band", { size: 6 }), input("top", "One band from", "such as 80: 80 and more is one band", { size: 6 }));
  }
  if (trial.maker === "prefix") return h("div", { class: "fields" }, input("prefix", "Characters that stay", `${[4, 3, 2].join(between)}: 53703 becomes 5370*, then 537**, then 53***`));
  if (trial.maker === "date") return dateForm(screen);
  if (trial.maker === "builtin") return builtinForm(screen);
  if (trial.maker === "none") return h("p", {}, view.source === "file" ? `The column would have no hierarchy. The file ${view.file} stays on disk.` : "The column would have no hierarchy.");
  if (trial.rows) return h("p", {}, trial.how ?? "");
  return h("div", {}, h("p", {}, "Start with groups of your own: select values below and put them under a group. Or let groups be suggested, to be read and changed."),
    h("div", { class: "actions" }, button("Suggest groups", () => suggest(screen), { id: "suggest-trial" }), button("Start from the present ones", () => { screen.trial = null; draw(screen); document.getElementById("group")?.focus(); }, { id: "start-groups" })));
}

function dateForm(screen) {
  const { trial } = screen;
  const flip = (unit, on) => { trial.date = on ? [...trial.date, unit] : trial.date.filter((other) => other !== unit); preview(screen); };
  return h("fieldset", { class: "plain" }, h("legend", {}, "Units, finest first"), h("div", { class: "checks" }, UNITS.map((unit) => h("label", { class: "check-label" },
    h("input", { type: "checkbox", id: `unit-${unit}`, checked: trial.date.includes(unit), onchange: (event) => flip(unit, event.target.checked) }), unit))),
  h("p", { class: "help" }, "A week can lie in two months: with week, only day and year are possible."));
}

const byFit = (view) => [...(view.builtins ?? [])].sort((one, other) => (other.fits ?? 0) - (one.fits ?? 0));

function builtinForm(screen) {
  const { trial, view } = screen;
  const list = byFit(view);
  if (!list.length) return h("p", {}, "No ready-made hierarchy fits this column.");
  return h("fieldset", { class: "plain" }, h("legend", {}, "Ready-made hierarchies"), list.map((builtin) => h("label", { class: "check-label block" },
    h("input", { type: "radio", name: "builtin", id: `trial-${builtin.name}`, checked: trial.builtin === builtin.name, onchange: () => { trial.builtin = builtin.name; preview(screen); } }),
    h("strong", {}, builtin.name.replace("builtin:", "")), h("span", {}, typeof builtin.fits === "number" ? `${builtin.about} – knows ${share(builtin.fits)} of the values` : builtin.about))));
}

async function suggest(screen) {
  try {
    const answer = await post(address(path(screen, "suggest")));
    screen.trial = { ...trialOf(screen, "groups"), rows: answer.rows, how: `Suggested: ${answer.how}. Read it: the groups are published.` };
    draw(screen);
    await preview(screen);
  } catch (error) { screen.problem = error; draw(screen); }
}

// The table

function levelsOf(view) {
  return Math.max(view.levels ?? 0, ...view.rows.map((row) => row.path?.length ?? 0), 0);
}

function tools(screen, view) {
  const { memory, trial } = screen;
  if (trial) return null;
  const levels = levelsOf(view);
  const find = debounce(250, () => { memory.from = 0; load(screen); });
  const choices = Array.from({ length: Math.max(1, levels - 1) }, (_, at) => [String(at + 1), `level ${at + 1}`]);
  memory.level = Math.min(memory.level ?? 1, choices.length);
  const n = memory.selected.size;
  return h("div", { class: "tools put" },
    h("form", { class: "inline", onsubmit: (event) => { event.preventDefault(); putSelected(screen, memory.group); } },
      h("label", { htmlFor: "group" }, n ? `Put the ${rows(n, "selected value")} under` : "Put the selected values under"),
      h("input", { type: "text", id: "group", list: "groups", autocomplete: "off", value: memory.group ?? "", placeholder: "name of a group", oninput: (event) => { memory.group = event.target.value; } }),
      h("datalist", { id: "groups" }, groupsOn(view, memory.level).map((name) => h("option", { value: name }))),
      h("label", { htmlFor: "put-level", class: "hidden-text" }, "on level"),
      h("select", { id: "put-level", value: String(memory.level), onchange: (event) => { memory.level = Number(event.target.value); draw(screen); } }, choices.map(([key, text]) => h("option", { value: key }, `on ${text}`))),
      h("button", { class: "button main", id: "put" }, "Put")),
    h("span", { class: "grow" }),
    h("label", { class: "inline-label" }, "find ", h("input", { type: "search", id: "find-value", value: memory.find ?? "", oninput: (event) => { memory.find = event.target.value; find(); } })),
    h("label", { class: "check-label" }, h("input", { type: "checkbox", id: "only-missing", checked: memory.only === "missing", onchange: (event) => { memory.only = event.target.checked ? "missing" : ""; memory.from = 0; load(screen); } }), "only missing"));
}

function groupsOn(view, level) {
  const named = view.sizes?.[level - 1]?.map((group) => group.label) ?? [];
  const seen = view.rows.map((row) => row.path?.[level - 1]).filter((label) => label && label !== "*");
  return [...new Set([...named, ...seen])].slice(0, 60);
}

function lines(screen, view) {
  const levels = levelsOf(view);
  const isTrial = Boolean(screen.trial);
  if (!view.rows.length) return empty(screen.memory.only ? "No value is missing: every value has a group." : "No value has that in it.", screen.memory.find || screen.memory.only ? button("Show all", () => { Object.assign(screen.memory, { find: "", only: "", from: 0 }); load(screen); }) : null);
  const heads = Array.from({ length: levels }, (_, at) => levelHead(screen, at + 1, levels, isTrial));
  const grid = h("table", { role: isTrial ? null : "grid", "aria-multiselectable": isTrial ? null : "true", class: "hierarchy", "aria-label": `Values of ${screen.memory.column} and their groups`, onkeydown: isTrial ? null : (event) => gridKeys(screen, view, event) },
    h("thead", {}, h("tr", {}, isTrial ? null : h("th", { scope: "col" }, h("span", { class: "hidden-text" }, "selected")), h("th", { scope: "col" }, "value"), h("th", { scope: "col", class: "number" }, "rows"), heads,
      isTrial ? null : h("th", { scope: "col", class: "narrow" }, button("+ level", () => change(screen, () => post(address(path(screen, "level")), { add: "above" }), "A level was added."), { kind: "small", id: "add-level", title: "Add a level below the root", disabled: view.source === "none" && levels === 0 })))),
    h("tbody", {}, view.rows.map((row, at) => valueLine(screen, row, at, levels, isTrial))));
  return [tableBox(grid, `Hierarchy of ${screen.memory.column}`, { class: "tall" }),
    isTrial ? null : h("p", { class: "help" }, "Select: click, Shift+click, Ctrl+click; arrows, Space, Shift+arrows, Ctrl+A; Enter goes to the name of the group. Rows can be dragged onto a group. Two or more columns of a spreadsheet can be pasted.")];
}

function levelHead(screen, level, levels, isTrial) {
  const isRoot = level === levels;
  const drop = () => change(screen, () => post(address(path(screen, "level")), { remove: level }), `Level ${level} was removed.`);
  return h("th", { scope: "col" }, isRoot ? "root" : `level ${level}`, isRoot || isTrial ? null : button("×", drop, { kind: "tiny", id: `remove-level-${level}`, "aria-label": `Remove level ${level}`, title: `Remove level ${level}` }));
}

function valueLine(screen, row, at, levels, isTrial) {
  const { memory } = screen;
  const isSelected = memory.selected.has(row.value);
  const cells = Array.from({ length: levels }, (_, level) => groupCell(screen, row, level + 1, levels, isTrial));
  const shown = row.value === null || row.value === "" ? "(missing)" : row.value;
  if (isTrial) return h("tr", {}, h("th", { scope: "row" }, shown), h("td", { class: "number" }, count(row.rows)), cells);
  return h("tr", { id: `value-${at}`, tabIndex: at === Math.max(0, screen.last) ? 0 : -1, "aria-selected": isSelected, draggable: true, class: row.missing ? "missing" : "",
    onclick: (event) => clicked(screen, at, event), onfocus: () => rove(screen, at), ondragstart: (event) => dragged(screen, row.value, event) },
  h("td", { class: "tick-cell", "aria-hidden": "true" }, isSelected ? "☑" : "☐"), h("th", { scope: "row" }, shown), h("td", { class: "number" }, count(row.rows)), cells, h("td", {}));
}

function groupCell(screen, row, level, levels, isTrial) {
  const label = row.path?.[level - 1];
  const text = label || (level === levels ? "*" : null);
  if (isTrial || level === levels) return h("td", {}, text ?? "—");
  return h("td", { class: text ? "group-cell" : "group-cell none", ...(text ? dropTarget(screen, text, level) : {}) }, text ?? (row.missing ? "— missing" : "—"));
}

// Selection

function rove(screen, at) {
  screen.body.querySelectorAll("tbody tr[tabindex='0']").forEach((line) => { line.tabIndex = -1; });
  const line = screen.body.querySelector(`#value-${at}`);
  if (line) line.tabIndex = 0;
  screen.last = at;
}

function clicked(screen, at, event) {
  const { rows: list } = screen.view;
  const { selected } = screen.memory;
  const isTouch = event.pointerType === "touch";
  const isMark = event.target.closest(".tick-cell");
  if (event.shiftKey && screen.anchor >= 0) range(screen, screen.anchor, at);
  else if (event.ctrlKey || event.metaKey || isTouch || isMark) toggle(selected, list[at].value);
  else { selected.clear(); selected.add(list[at].value); }
  if (!event.shiftKey) screen.anchor = at;
  mine(screen, at);
}

const toggle = (set, value) => { if (!set.delete(value)) set.add(value); };

function range(screen, from, to) {
  const { selected } = screen.memory;
  selected.clear();
  for (let at = Math.min(from, to); at <= Math.max(from, to); at += 1) selected.add(screen.view.rows[at].value);
}

function mine(screen, at) {
  screen.last = at;
  draw(screen);
  screen.body.querySelector(`#value-${at}`)?.focus({ preventScroll: false });
  announce(`${rows(screen.memory.selected.size, "value")} selected`);
}

function gridKeys(screen, view, event) {
  if (!event.target.matches("tbody tr")) return;
  const at = screen.last < 0 ? 0 : screen.last;
  const { selected } = screen.memory;
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e6, End: 1e6 }[event.key];
  if (step) {
    const next = Math.max(0, Math.min(view.rows.length - 1, at + step));
    event.preventDefault();
    if (event.shiftKey) { screen.anchor = screen.anchor >= 0 ? screen.anchor : at; range(screen, screen.anchor, next); mine(screen, next); } else { screen.anchor = next; screen.body.querySelector(`#value-${next}`)?.focus(); }
  } else if (event.key === " ") {
    event.preventDefault();
    toggle(selected, view.rows[at].value);
    screen.anchor = at;
    mine(screen, at);
  } else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    view.rows.forEach((row) => selected.add(row.value));
    mine(screen, at);
  } else if (event.key === "Escape") {
    selected.clear();
    mine(screen, at);
  } else if (event.key === "Enter") {
    event.preventDefault();
    document.getElementById("group")?.focus();
  }
}

// Putting values under a group

function putSelected(screen, group, level = screen.memory.level, values = [...screen.memory.selected]) {
  const name = (group ?? "").trim();
  if (!values.length) { screen.problem = new Error("No value is selected: click on lines of the table, or press Space on them."); draw(screen); return null; }
  if (!name) { screen.problem = new Error("The group has no name: type one, or choose one of the list."); draw(screen); document.getElementById("group")?.focus(); return null; }
  screen.memory.selected = new Set();
  screen.memory.group = "";
  return change(screen, () => post(address(path(screen, "edit")), { put: values, level, group: name }), `${rows(values.length, "value")} put under ${name}.`);
}

function dragged(screen, value, event) {
  const { selected } = screen.memory;
  const values = selected.has(value) ? [...selected] : [value];
  event.dataTransfer.setData("text/plain", JSON.stringify(values));
  event.dataTransfer.effectAllowed = "move";
  screen.dragging = values;
}

function dropTarget(screen, group, level) {
  const over = (event) => { if (screen.dragging) { event.preventDefault(); event.currentTarget.classList.add("over"); } };
  return { ondragover: over, ondragleave: (event) => event.currentTarget.classList.remove("over"),
    ondrop: (event) => {
      event.preventDefault();
      event.currentTarget.classList.remove("over");
      const values = screen.dragging;
      screen.dragging = null;
      if (values) putSelected(screen, group, level, values);
    } };
}

function groupsBox(screen, view) {
  const { memory } = screen;
  const names = groupsOn(view, memory.level);
  if (!names.length) return null;
  const take = (name) => { memory.group = name; draw(screen); document.getElementById("group")?.focus(); };
  return h("div", { class: "groups" }, h("span", { class: "label" }, `Groups on level ${memory.level}: `), names.map((name) => h("button", { type: "button", class: "chip", id: `group-${name}`, onclick: () => take(name), title: "Drop values here, or click to write its name into the field", ...dropTarget(screen, name, memory.level) }, name)));
}

function pager(screen, view) {
  const { memory } = screen;
  const total = view.found ?? view.total ?? view.rows.length;
  const from = view.from ?? 0;
  if (screen.trial) return total > view.rows.length ? h("p", { class: "help" }, `The first ${count(view.rows.length)} of ${count(total)} values.`) : null;
  const move = (to) => { memory.from = to; screen.last = -1; screen.anchor = -1; load(screen); };
  return h("div", { class: "tools below" }, h("span", {}, `${count(from + 1)} to ${count(from + view.rows.length)} of ${rows(total, "value")}`),
    total > PAGE ? [button("Back", () => move(Math.max(0, from - PAGE)), { kind: "small", id: "page-back", disabled: from === 0 }), button("Next", () => move(from + PAGE), { kind: "small", id: "page-next", disabled: from + view.rows.length >= total })] : null,
    total > view.rows.length ? button(`Select all ${count(total)}`, () => selectAll(screen, total), { kind: "small", id: "select-all" }) : null);
}

async function selectAll(screen, total) {
  const { memory } = screen;
  try {
    for (let from = 0; from < Math.min(total, 20000); from += 500) {
      const part = await get(address(path(screen), { find: memory.find, from, limit: 500, only: memory.only }), { signal: screen.scope.signal });
      part.rows.forEach((row) => memory.selected.add(row.value));
    }
    announce(`${rows(memory.selected.size, "value")} selected`);
  } catch (error) { if (!isAbort(error)) screen.problem = error; }
  draw(screen);
}

// Import: compare first

function importBox(screen) {
  const text = h("textarea", { id: "import-text", rows: 4, spellcheck: "false", placeholder: "nurse;Health;Services;*\nmidwife;Health;Services;*" });
  const file = h("input", { type: "file", id: "import-file", accept: ".csv,.txt,.tsv,text/*", onchange: async (event) => { const [chosen] = event.target.files; if (chosen) compare(screen, await chosen.text()); } });
  return fold("Paste or open a file (ARX form: value;group;…;root), or let groups be suggested", screen, "importing",
    h("div", { class: "fields" }, field("Lines with ; , or tabs between", text), field("A file of this computer", file)),
    h("div", { class: "actions" }, button("Compare", () => compare(screen, text.value), { id: "import-compare" }), button("Suggest groups", () => suggest(screen), { id: "suggest" })),
    screen.comparing ? comparison(screen) : null);
}

function pasted(screen, event) {
  if (event.target.closest?.("input, textarea, select")) return;
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!/[\t;,]/.test(text)) return;
  event.preventDefault();
  compare(screen, text);
}

async function compare(screen, text) {
  screen.importing = true;
  try {
    screen.comparing = await post(address(path(screen, "compare")), { text });
    screen.problem = null;
  } catch (error) { screen.problem = error; screen.comparing = null; }
  draw(screen);
  const place = document.getElementById("comparison");
  place?.scrollIntoView({ block: "nearest" });
  document.getElementById("import-replace")?.focus();
}

function comparison(screen) {
  const { comparing } = screen;
  const { changed, gone } = comparing;
  const done = () => { screen.comparing = null; screen.importing = false; };
  const replace = () => { const list = comparing.rows; done(); return change(screen, () => put(address(path(screen)), { rows: list, file: fileOf(screen) }), "The hierarchy was replaced."); };
  const parts = [`${rows(changed, "value")} ${changed === 1 ? "changes its" : "change their"} group`, `${count(comparing.new)} ${comparing.new === 1 ? "is" : "are"} new`, gone ? `${count(gone)} ${gone === 1 ? "is" : "are"} gone` : null].filter(Boolean);
  const first = comparing.rows.slice(0, 8);
  const width = Math.max(0, ...first.map((row) => row.length));
  return h("div", { class: "box", id: "comparison", role: "status" }, h("p", {}, h("strong", {}, `${parts.join(", ")}.`)),
    (comparing.problems ?? []).map((problem) => mark("warn", problem)),
    width ? tableBox(table("The first lines", ["value", ...Array.from({ length: width - 1 }, (_, at) => at === width - 2 ? "root" : `level ${at + 1}`)], first.map((row) => Array.from({ length: width }, (_, at) => row[at] ?? ""))), "The first lines") : null,
    h("p", { class: "help" }, `Replace writes ${fileOf(screen)} beside the configuration; the old file is kept as .bak, and undo brings it back.`),
    h("div", { class: "actions" }, button("Replace", replace, { kind: "main", id: "import-replace", disabled: !comparing.rows.length }), button("Cancel", () => { done(); draw(screen); }, { id: "import-cancel" })));
}
