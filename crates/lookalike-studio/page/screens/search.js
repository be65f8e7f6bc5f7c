// Screen 4: the search, what each k costs, and two results to compare.

import { address, get, isAbort, post, remove } from "../lib/api.js";
import { frontierChart, progressChart } from "../lib/charts.js";
import { h, redraw } from "../lib/dom.js";
import { count, lost, number, ratio, rows, secondsOf, share } from "../lib/format.js";
import { abandon, figuresOf, frontier, isRunning, jobKey, jobs, pinnedPoints, pinPoint, progressBox, start, stop } from "../lib/jobs.js";
import { accept, edit, setSection, store } from "../lib/store.js";
import { button, empty, errorBox, field, mark, table, tableBox, warnings, words } from "../lib/ui.js";
import { WORDS } from "../lib/words.js";

export function mount(root, scope) {
  const parts = { search: h("section", { class: "panel" }), results: h("section", { class: "panel" }), frontier: h("section", { class: "panel" }), compare: h("section", { class: "panel" }) };
  const state = scope.memory;
  state.ks ??= "2, 3, 5, 10, 20, 50";
  state.each ??= "2";
  const draw = {
    search: () => drawSearch(parts.search, state, scope),
    results: () => drawResults(parts.results, draw, scope),
    frontier: () => drawFrontier(parts.frontier, state, scope, draw),
    compare: () => drawCompare(parts.compare, draw, scope),
  };
  redraw(root,
    h("div", { class: "screen-head" }, h("h2", {}, "Search"),
      h("p", { class: "intro" }, "Many releases satisfy the rules. The search looks for one with little ", h("strong", {}, "loss"), ": 0 % is the table as it is, 100 % is a table of * only.")),
    h("div", { class: "two" }, h("div", {}, parts.search, parts.results), h("div", {}, parts.frontier, parts.compare)),
    words("loss", "bound", "gap", "risk", "frontier", "class", "suppressed"));
  let key = jobKey();
  scope.on("job", () => {
    if (key === jobKey()) { drawFigures(state.figures, jobs.last.search); return; }
    key = jobKey();
    draw.search();
    draw.frontier();
  });
  scope.on("results", () => { draw.results(); draw.compare(); });
  Object.values(draw).forEach((act) => act());
}

// The search

async function run(place, body, state, scope, redo) {
  state.error = null;
  try { await start(body); } catch (error) { if (!isAbort(error)) state.error = error; }
  redo();
}

/** Seconds: a day. */
const LONGEST = 86400;

function timeField(state) {
  const now = secondsOf(store.draft.limits?.time ?? "10s") ?? 10;
  const input = h("input", { type: "text", inputmode: "decimal", size: 6, id: "search-time", value: String(now), oninput: (event) => {
    const value = number(event.target.value);
    const isGood = value > 0 && value <= LONGEST;
    event.target.setAttribute("aria-invalid", String(!isGood));
    state.wrongTime = !isGood;
    said.textContent = isGood ? "" : `The time is a number of seconds above 0, at most ${count(LONGEST)}.`;
    if (isGood) setSection("limits", "time", `${value}s`);
  } });
  const said = h("p", { class: "field-error", role: "alert", id: "time-error" });
  state.wrongTime = false;
  return [field("Time", input, null, { unit: "seconds" }), said];
}

function drawSearch(place, state, scope) {
  const again = () => drawSearch(place, state, scope);
  const job = jobs.last.search;
  const other = isRunning() && !isRunning("search");
  const begin = () => state.wrongTime ? document.getElementById("search-time")?.focus() : run(place, { kind: "search", time: store.draft.limits?.time ?? "10s" }, state, scope, again);
  redraw(place, h("h3", {}, "Search for a release"),
    isRunning("search") ? null : h("div", { class: "row" }, timeField(state), button(`Search with k = ${count(store.draft.k)}`, begin, { kind: "main", id: "start-search", disabled: other })),
    isRunning("search") ? null : h("p", { class: "help" }, "More time, less loss. Small tables need less."),
    other ? h("p", { class: "help" }, "Another job is running; a search can start when it has ended.") : null,
    state.error ? errorBox(state.error) : null,
    job ? searchState(job, state, scope) : null);
}

function searchState(job, state, scope) {
  state.figures = h("div", {});
  drawFigures(state.figures, job);
  const isFound = Boolean(job.found) || job.state === "done";
  const isSearching = job.state === "running" && !isFound;
  return h("div", { class: "job" },
    isFound ? h("div", { class: "actions" }, mark("good", "Found."), button("See the result", () => { sessionStorage.setItem("lookalike-result", (job.found ?? job.result).result); scope.go("result"); }, { kind: "main", id: "see-result" })) : null,
    job.state === "running" ? progressBox(job, scope) : null,
    state.figures,
    isSearching ? h("div", { class: "actions" }, button("Stop and keep the best", () => stop(job).catch(() => {}), { kind: "main", id: "stop-search" }), button("Stop, keep nothing", () => abandon(job).catch(() => {}), { id: "abandon-search" })) : null,
    job.state === "running" && isFound ? h("div", { class: "actions" }, button("Stop measuring", () => stop(job).catch(() => {}), { id: "stop-measuring" })) : null,
    job.state === "failed" ? errorBox(job.error) : null);
}

/** The figures of a search, drawn again with each event. */
function drawFigures(place, job) {
  if (!place || !job) return;
  const now = figuresOf(job);
  const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  const hasCurve = job.progress.some((step) => typeof step.loss === "number");
  const hasBound = job.progress.some((step) => typeof step.bound === "number");
  redraw(place,
    now ? h("dl", { class: "figures" }, figure("loss", lost(now.loss)), figure("lower bound", lost(now.bound)), figure("gap", ratio(now.gap))) : null,
    now ? h("p", { class: "help" }, boundText(job, now)) : null,
    hasCurve ? progressChart(job.progress) : null,
    hasCurve ? h("p", { class: "help legend" }, h("span", { class: "key loss" }), "loss of the best release so far") : null,
    hasBound ? h("p", { class: "help legend" }, h("span", { class: "key bound" }), "lower bound: no release can lose less") : null,
    warnings([...new Set(job.warnings)]));
}

function boundText(job, now) {
  if (typeof now.gap === "number") return `Gap: ${WORDS.gap}`;
  if (typeof now.bound === "number") return now.bound_of === "k" ? WORDS["bound of k"] : WORDS.bound;
  return job.state === "running" && !job.found ? "The lower bound is shown when the search has ended." : "There is no lower bound for this release.";
}

// Results of this session

function drawResults(place, draw, scope) {
  const results = [...(store.project.results ?? [])].reverse();
  const pin = async (result, as) => {
    pinPoint(as, null);
    draw.frontier();
    try { accept(await post(`/api/results/${result.id}/pin`, { as: result.pinned === as ? null : as }), false); } catch (error) { redraw(place, errorBox(error, draw.results)); }
  };
  const drop = async (result) => {
    try { accept(await remove(`/api/results/${result.id}`), false); } catch (error) { redraw(place, errorBox(error, draw.results)); }
  };
  const pinButton = (result, as) => button(as, () => pin(result, as), { kind: result.pinned === as ? "small pressed" : "small", id: `pin-${result.id}-${as}`, "aria-pressed": result.pinned === as, "aria-label": `Pin ${result.label} as ${as}` });
  const lines = results.map((result, at) => [
    h("button", { type: "button", class: "link", onclick: () => { sessionStorage.setItem("lookalike-result", result.id); scope.go("result"); } }, `${result.label}${at === 0 ? " (newest)" : ""}`),
    lost(result.loss), h("span", {}, result.stale ? h("span", { title: "The configuration, a hierarchy file or the table was changed since" }, "older settings") : "as set now", result.rows ? null : h("span", { class: "sub", title: "Its rows were forgotten to save memory: search again to write it. A pinned result keeps its rows." }, " figures only")),
    h("span", { class: "group" }, pinButton(result, "A"), pinButton(result, "B")),
    button("Forget", () => drop(result), { kind: "small", id: `drop-${result.id}`, "aria-label": `Forget ${result.label}` })]);
  redraw(place, h("h3", {}, "Results"),
    results.length ? tableBox(table("Results of this session", ["result", ["loss", "number"], "settings", "pin as", h("span", { class: "hidden-text" }, "actions")], lines), "Results") : empty("No result yet: start a search."));
}

// Frontier

const parseKs = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);

function drawFrontier(place, state, scope, draw) {
  const again = () => drawFrontier(place, state, scope, draw);
  const known = frontier();
  const points = [...(known?.points ?? [])].sort((one, other) => one.k - other.k);
  const job = jobs.last.frontier;
  const begin = () => {
    const ks = parseKs(state.ks);
    state.chosen = null;
    state.wrongKs = !ks.length || ks.some((k) => !Number.isInteger(k) || k < 1);
    if (state.wrongKs) { again(); return null; }
    return run(place, { kind: "frontier", ks, time: `${secondsOf(state.each) ?? 2}s` }, state, scope, again);
  };
  const choose = (k) => { state.chosen = k; again(); };
  const enter = (event) => { if (event.key === "Enter") begin(); };
  redraw(place, h("h3", {}, "Which k? The frontier"),
    h("p", { class: "help" }, WORDS.frontier, " Each k is searched shortly."),
    isRunning("frontier") ? null : h("div", { class: "row" },
      field("values of k", h("input", { type: "text", id: "frontier-ks", value: state.ks, "aria-invalid": Boolean(state.wrongKs), onkeydown: enter, oninput: (event) => { state.ks = event.target.value; } })),
      field("each", h("input", { type: "text", inputmode: "decimal", size: 4, id: "frontier-each", value: state.each, onkeydown: enter, oninput: (event) => { state.each = event.target.value; } }), null, { unit: "seconds" }),
      button("Compare", begin, { id: "start-frontier", disabled: isRunning() })),
    state.wrongKs ? h("p", { class: "field-error", role: "alert" }, "Values of k are whole numbers from 1, with commas between.") : null,
    isRunning("frontier") ? h("div", { class: "job" }, h("p", { role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), jobs.current.ks ? `${count(points.length)} of ${count(jobs.current.ks.length)} done` : "starting"), progressBox(jobs.current, scope), button("Stop", () => stop(jobs.current).catch(() => {}), { id: "stop-frontier" })) : null,
    job?.state === "failed" ? errorBox(job.error) : null,
    known?.stale && points.length ? mark("note", "The configuration was changed since these figures were made.") : null,
    points.length ? frontierFigures(points, state, choose) : null,
    points.length ? chosenPoint(points.find((point) => point.k === state.chosen), known.settings, scope, draw) : null);
}

function frontierFigures(points, state, choose) {
  const broken = points.filter((point) => point.error);
  const names = Object.fromEntries(Object.entries(pinnedPoints()).filter(([, pinned]) => pinned).map(([as, { point }]) => [point.k, as]));
  return [
    h("div", { class: "charts" },
      frontierChart(points, "loss", { name: "loss", label: "Loss of each k. Each point is a button.", chosen: state.chosen, choose, names }),
      frontierChart(points, "risk", { name: "highest risk", label: "Highest risk of each k. Each point is a button.", chosen: state.chosen, choose, names })),
    broken.map((point) => mark("bad", `k = ${count(point.k)}: ${point.error}`)),
  ];
}

function chosenPoint(point, settings, scope, draw) {
  if (!point) return h("p", { class: "help" }, "Choose a point (click, or Tab and Enter) to see its figures, to pin it, or to use its k.");
  const use = () => { edit((draft) => { draft.k = point.k; }); scope.go("search"); };
  const pins = pinnedPoints();
  const pin = async (as) => {
    const isPinned = pins[as]?.point.k === point.k;
    pinPoint(as, isPinned ? null : { point, settings: { ...settings, k: point.k } });
    draw.frontier();
    draw.compare();
    const result = (store.project.results ?? []).find((other) => other.pinned === as);
    if (result) accept(await post(`/api/results/${result.id}/pin`, { as: null }), false);
  };
  const pinButton = (as) => button(`Pin as ${as}`, () => pin(as).catch(() => {}), { kind: pins[as]?.point.k === point.k ? "pressed" : "", id: `pin-point-${as}`, "aria-pressed": pins[as]?.point.k === point.k });
  const error = typeof point.query_error === "number" ? `, counts are off by ${share(point.query_error)}` : "";
  return h("div", { class: "chosen", role: "status" },
    h("p", {}, h("strong", {}, `k = ${count(point.k)}`), `: loss ${lost(point.loss)}, highest risk ${share(point.risk)}, ${rows(point.classes, "class")}, the smallest of ${rows(point.smallest)}, ${count(point.suppressed)} suppressed${error}`),
    h("div", { class: "actions" }, pinButton("A"), pinButton("B"),
      store.draft.k === point.k ? h("span", { class: "help" }, "The rules have this k now. Start the search to get its release.") : button(`Use k = ${count(point.k)}`, use, { id: "use-k" })));
}

// A and B side by side: results, or points of the frontier

/** A point as far as it has the figures of a result. */
const asResult = ({ point, settings }) => ({
  label: `k = ${count(point.k)}, of the frontier`, settings, k: point.k, loss: point.loss, released: point.released, suppressed: point.suppressed, classes: point.classes, smallest: point.smallest,
  risk: { highest: point.risk, average: point.released ? point.classes / point.released : null },
  queries: typeof point.query_error === "number" ? [{ conditions: "all", median: point.query_error }] : [], columns: [],
});

async function drawCompare(place, draw, scope) {
  const points = pinnedPoints();
  const pinned = ["A", "B"].map((as) => points[as] ?? (store.project.results ?? []).find((result) => result.pinned === as));
  const head = h("h3", {}, "Compare A and B");
  if (!pinned[0] || !pinned[1]) {
    const one = pinned[0] ? "A is pinned. " : pinned[1] ? "B is pinned. " : "";
    redraw(place, head, h("p", { class: "help" }, `${one}Pin one result or point of the frontier as A and another as B to see them side by side.`));
    return;
  }
  try {
    const [one, other] = await Promise.all(pinned.map(async (chosen) => chosen.point ? asResult(chosen) : { ...await get(address(["results", String(chosen.id)]), { signal: scope.signal }), label: chosen.label }));
    redraw(place, head, settingsDiffer(one.settings, other.settings), tableBox(table("A and B", ["figure", [`A: ${one.label}`, "number"], [`B: ${other.label}`, "number"]], compareLines(one, other)), "A and B"),
      points.A || points.B ? h("p", { class: "help" }, "A point of the frontier comes from a short search and was not kept: use its k and search to get its release. –: not measured there.") : null);
  } catch (error) { if (!isAbort(error)) redraw(place, head, errorBox(error, draw.compare)); }
}

/** Which settings differ, by their keys: a loss of two results is the price of all of them together. */
function settingsDiffer(one, other) {
  const flat = (value, path = "") => value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value).flatMap(([key, part]) => flat(part, path ? `${path}.${key}` : key)) : [[path, JSON.stringify(value)]];
  const [before, after] = [new Map(flat(one ?? {})), new Map(flat(other ?? {}))];
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key) && !/(^|\.)(reason|path)$/.test(key));
  return h("p", { class: "help" }, names.length ? `Settings that differ: ${names.slice(0, 12).map((key) => `${key} (${before.get(key) ?? "none"} → ${after.get(key) ?? "none"})`).join("; ")}${names.length > 12 ? `; and ${names.length - 12} more` : ""}.` : "The settings are the same.");
}

function compareLines(one, other) {
  const line = (name, of, show) => [name, show(of(one)), show(of(other))];
  const union = (key, of) => [...new Set([...(one[key] ?? []), ...(other[key] ?? [])].map(of))];
  const query = (of, conditions) => (of.queries ?? []).find((query) => query.conditions === conditions)?.median;
  const column = (of, name) => (of.columns ?? []).find((column) => column.name === name)?.loss;
  return [
    line("k", (of) => of.k, count), line("loss", (of) => of.loss, lost), line("gap", (of) => of.gap, ratio), line("rows released", (of) => of.released, count), line("rows suppressed", (of) => of.suppressed, count),
    line("classes", (of) => of.classes, count), line("smallest class", (of) => of.smallest, count), line("highest risk", (of) => of.risk?.highest, share), line("average risk", (of) => of.risk?.average, share),
    ...union("queries", (query) => query.conditions).map((conditions) => line(`counts with ${conditions} condition${conditions === 1 ? "" : "s"} are off by`, (of) => query(of, conditions), share)),
    ...union("columns", (column) => column.name).map((name) => line(`loss of ${name}`, (of) => column(of, name), lost)),
  ].filter(([, one, other]) => one !== "–" || other !== "–");
}
