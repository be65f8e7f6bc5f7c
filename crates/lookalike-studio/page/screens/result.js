// Screen 5: what the release is like: columns before and after, classes, risk, counts, sample rows.

import { address, get, isAbort } from "../lib/api.js";
import { barList, beforeAfter } from "../lib/charts.js";
import { debounce, h, redraw } from "../lib/dom.js";
import { count, decimal, figure, lost, ratio, rows, seconds, share } from "../lib/format.js";
import { isMeasuring, isRunning, jobKey, jobs, progressBox, start, stop } from "../lib/jobs.js";
import { store } from "../lib/store.js";
import { button, empty, errorBox, loading, cautions, mark, radios, ruleLines, select, shareBar, table, tableBox, warnings, words } from "../lib/ui.js";
import { WORDS } from "../lib/words.js";

export function mount(root, scope) {
  const results = store.project.results ?? [];
  const wanted = Number(sessionStorage.getItem("lookalike-result")) || null;
  const chosen = results.find((result) => result.id === wanted) ?? results.at(-1);
  const head = h("div", { class: "screen-head" }, h("h2", {}, "Result"), h("p", { class: "intro" }, "What the release is like. Screen 6 writes it."));
  scope.on("results", () => { if ((store.project.results ?? []).length !== results.length) mountAgain(root, scope); });
  if (!chosen) {
    redraw(root, head, empty("There is no result yet.", button("Go to the search", () => scope.go("search"), { kind: "main" })));
    return;
  }
  const body = h("div", {}, loading("Reading the result …"));
  redraw(root, head, chooser(results, chosen, root, scope), body, words("loss", "class", "risk", "bound", "gap", "query", "suppressed"));
  load(body, chosen, scope);
}

function mountAgain(root, scope) {
  scope.ends.splice(0).forEach((end) => end());
  mount(root, scope);
}

function chooser(results, chosen, root, scope) {
  const pick = (id) => { sessionStorage.setItem("lookalike-result", id); mountAgain(root, scope); };
  const named = [["A", results.find((result) => result.pinned === "A")], ["B", results.find((result) => result.pinned === "B")], ["newest", results.at(-1)]].filter(([, result]) => result);
  const options = named.map(([name, result]) => [name, `${name}: ${result.label}`]);
  const now = named.find(([, result]) => result.id === chosen.id)?.[0] ?? "";
  return h("div", { class: "tools" }, radios("Which result", "which-result", options, now, (name) => pick(named.find(([key]) => key === name)[1].id)),
    results.length > named.length ? h("label", { class: "inline-label" }, "all ", select([...results].reverse().map((result) => [String(result.id), `${result.label}, loss ${lost(result.loss)}`]), String(chosen.id), pick, { id: "all-results" })) : null,
    chosen.stale ? mark("warn", "The configuration was changed since this search. ", h("a", { href: "#/search" }, "Search again"), " to see its effect.") : null);
}

async function load(body, chosen, scope) {
  try {
    const result = await get(address(["results", String(chosen.id)]), { signal: scope.signal });
    draw(body, result, scope);
    // Figures come one after the other.
    const soon = debounce(100, async () => {
      try { draw(body, await get(address(["results", String(chosen.id)]), { signal: scope.signal }), scope); } catch (error) { if (!isAbort(error)) redraw(body, errorBox(error)); }
    });
    scope.on("measured", (id) => { if (id === chosen.id) soon(); });
    let key = jobKey();
    scope.on("job", () => { if (key !== jobKey()) { key = jobKey(); soon(); } });
    scope.end(soon.cancel);
  } catch (error) { if (!isAbort(error)) redraw(body, errorBox(error, () => load(body, chosen, scope))); }
}

function draw(body, result, scope) {
  const sample = h("div", {}, loading("Choosing typical rows …"));
  const help = h("section", { class: "panel" });
  redraw(body, tiles(result),
    cautions({ ...result, columns: result.source_columns }), ruleLines(result.rules), measureBox(result, scope),
    columnsPanel(result, scope), h("section", { class: "panel" }, h("h3", {}, "Rows before → after"), h("p", { class: "help" }, "Typical rows of the release, each beside a row of the table that it could be. Columns that are not made coarser for k are shown as they are published."), sample),
    h("div", { class: "three" }, sizesPanel(result), riskPanel(result), queriesPanel(result)), help);
  drawExplain(help, result, scope);
  loadSample(sample, result, scope);
}

/** The release is audited; further figures are still measured, or were stopped. */
function measureBox(result, scope) {
  const isNow = isMeasuring() && jobs.current.found?.result === result.id;
  if (isNow) {
    return h("div", { class: "box", role: "status" }, h("p", {}, "The release is found and audited. Distributions, typical rows, risk before and errors of counts are being measured and appear below."), progressBox(jobs.current, scope), button("Stop measuring", () => stop(jobs.current).catch(() => {}), { kind: "small", id: "stop-measuring" }));
  }
  const begin = () => start({ kind: "measure", result: result.id }).catch(() => {});
  return result.measured === "open" ? h("div", { class: "box", role: "status" }, mark("note", "Some figures below were not measured."), button("Measure them", begin, { kind: "small", id: "measure", disabled: isRunning() })) : null;
}

const tile = (name, value, note) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), note ? h("dd", { class: "sub" }, note) : null);

function tiles(result) {
  return h("dl", { class: "tiles" },
    tile("k", count(result.k), `smallest class ${count(result.smallest)}`),
    tile("loss", lost(result.loss), result.published_loss !== null && result.published_loss !== undefined && result.suppressed ? `${lost(result.published_loss)} in published rows` : "0 % is exact, 100 % is all *"),
    typeof result.gap === "number" || !result.bound ? tile("gap to the lower bound", ratio(result.gap), result.bound ? `no release loses less than ${lost(result.bound)}` : "there is no bound for this release")
      : tile("lower bound", lost(result.bound), "for k alone: the other rules may cost more, so there is no gap"),
    tile("classes", count(result.classes), `of ${rows(result.released)}`),
    tile("suppressed", count(result.suppressed), result.suppressed ? share(result.suppressed / result.rows) : "every row is in the release"),
    tile("highest risk", share(result.risk?.highest), result.unique_published?.rows ? "by the quasi-identifiers; see below" : "1 / smallest class"),
    tile("time", seconds(result.time)));
}

const width = (mean) => mean ? `${figure(mean.width)}${mean.unit ? ` ${mean.unit}` : ""}` : "–";

function columnsPanel(result, scope) {
  const opened = scope.memory.opened ??= new Set();
  const costly = [...result.columns].sort((one, other) => other.share_of_loss - one.share_of_loss);
  const most = costly[0];
  const lines = costly.map((column) => [column.name, lost(column.loss), shareBar(column.share_of_loss, share(column.share_of_loss)), share(column.unchanged), share(column.suppressed_cells), width(column.mean_width), column.how ?? "–",
    !column.before?.length ? "–" : h("details", { class: "distribution", open: opened.has(column.name) }, h("summary", { onclick: () => { if (!opened.delete(column.name)) opened.add(column.name); } }, beforeAfter(column.before, column.after, `Distribution of ${column.name}, before and after`)), distribution(column))]);
  return h("section", { class: "panel" }, h("h3", {}, "Columns, the costliest first"),
    most ? h("p", {}, h("strong", {}, most.name), ` costs most: ${share(most.share_of_loss)} of all loss.`) : null,
    tableBox(table("Columns of the result", ["column", ["loss", "number"], "share of all loss", ["unchanged", "number"], ["shown as *", "number"], ["mean width", "number"], "how", "before and after"], lines), "Columns of the result"),
    h("p", { class: "help legend" }, h("span", { class: "key before" }), "before: outline"), h("p", { class: "help legend" }, h("span", { class: "key after" }), "after: filled; a range counts evenly for its values"), h("p", { class: "help" }, "Open a picture for its numbers. Mean width: the greatest minus the least value of a cell, on average, for numbers and dates."));
}

function distribution(column) {
  return table(`Distribution of ${column.name}`, ["value", ["before", "number"], ["after", "number"]], column.before.map((bar, at) => [bar.label, count(bar.rows), decimal(column.after[at]?.rows)]));
}

function sizesPanel(result) {
  return h("section", { class: "panel" }, h("h3", {}, "Sizes of classes"),
    barList((result.sizes ?? []).filter((size) => size.rows > 0).map((size) => ({ label: size.label, value: size.rows, text: typeof size.classes === "number" ? `${rows(size.rows)} in ${rows(size.classes, "class")}` : rows(size.rows) })), "Rows in classes of each size"));
}

const extra = (name, value, show) => value === null || value === undefined ? [] : [[name, show(value)]];

function riskPanel({ risk, k }) {
  if (!risk) return null;
  return h("section", { class: "panel" }, h("h3", {}, "Risk"),
    h("p", { class: "help" }, WORDS.risk),
    table("Risk", ["risk", ["value", "number"]], [["highest", share(risk.highest)], ...extra("average", risk.average, share), ...extra("highest before", risk.before, share), ...extra("average before", risk.average_before, share), ...extra("unique rows before", risk.uniques_before, count), ]),
    risk.above?.length ? tableBox(table("Rows by risk", ["risk above", ["rows before", "number"], ["rows now", "number"]], risk.above.map((at) => [`1 / ${count(at.one_in)}`, count(at.before), count(at.rows)])), "Rows by risk") : null,
    k ? h("p", { class: "help" }, `k = ${count(k)} promises at most ${share(1 / k)}.`) : null);
}

function queriesPanel(result) {
  const many = Math.max(0, ...(result.queries ?? []).map((query) => query.queries ?? 0));
  return h("section", { class: "panel" }, h("h3", {}, "How far counts are off"), h("p", { class: "help" }, WORDS.query, many ? ` ${count(many)} random counts each: the report draws others and more of them.` : ""),
    !result.queries?.length ? h("p", {}, result.measured === "running" ? "Being measured …" : result.measured === "open" ? "Not measured." : "Not measured for this kind of release.") : tableBox(table("Error of counts", ["conditions", ["half are within", "number"], ["9 of 10 within", "number"]], (result.queries ?? []).map((query) => [String(query.conditions), share(query.median), share(query.ninth)])), "Error of counts"));
}

async function loadSample(place, { id, measured }, scope) {
  const none = { running: "Being chosen …", open: "Not chosen." }[measured] ?? "There are no sample rows of this kind of release (persons with several rows).";
  try {
    const sample = await get(address(["results", String(id), "sample"]), { signal: scope.signal });
    if (!sample?.rows?.length) { redraw(place, h("p", { class: "help" }, none)); return; }
    const cell = (before, after) => before === after ? h("span", { class: "same" }, after) : h("span", { class: "change" }, h("span", { class: "was" }, before || "(missing)"), h("span", { class: "to" }, " → "), h("span", { class: "now" }, after || "(missing)"));
    const lines = sample.rows.map((row, at) => [count(at + 1), ...sample.columns.map((_, column) => cell(row.before[column] ?? "", row.after[column] ?? ""))]);
    redraw(place, tableBox(table("Typical rows before and after", [["row", "number"], ...sample.columns], lines), "Typical rows"));
  } catch (error) { if (!isAbort(error)) redraw(place, errorBox(error, () => loadSample(place, { id, measured }, scope))); }
}

// What would help

function drawExplain(place, result, scope) {
  const job = jobs.last.explain;
  const begin = async () => {
    try { await start({ kind: "explain", time: "10s" }); } catch (error) { redraw(place, h("h3", {}, "What would help"), errorBox(error, begin)); }
  };
  redraw(place, h("h3", {}, "What would help"),
    isRunning("explain") ? h("div", {}, progressBox(job, scope), button("Stop", () => stop(job).catch(() => {}), { id: "stop-explain" }))
      : h("div", {}, h("p", { class: "help" }, "Quick searches without each column, with coarser values, with a smaller k and with more suppressed rows. Takes about ten seconds."), button(job ? "Ask again" : "Ask", begin, { id: "start-explain", disabled: isRunning() })),
    job?.state === "failed" ? errorBox(job.error) : null,
    job?.state === "done" && job.result ? explanation(job.result, result) : null);
}

function explanation(found, result) {
  const helps = (found.helps ?? []).map((help) => h("li", {}, h("strong", {}, help.change), `: ${help.of} lose ${lost(help.then)} in place of ${lost(help.now)}`));
  const lines = (found.columns ?? []).map((column) => [column.name, lost(column.loss), share(column.part), lost(column.others), lost(column.others_without), column.coarser ? `${lost(column.coarser.others)} (${column.coarser.to})` : "–", share(column.unique_alone), share(column.unique_without)]);
  return h("div", {},
    h("p", {}, `These are quick searches: with the settings as they are, a quick one loses ${lost(found.loss)}; the release above, which was searched longer, loses ${lost(result.loss)}. Compare the figures here with each other, not with those of the release.`),
    helps.length ? [h("h4", {}, "Changes that make the loss smaller, the greatest gain first"), h("ol", {}, helps)] : h("p", {}, "No single change would help much."),
    found.complete === false ? mark("note", "The time was over before all was tried.") : null,
    tableBox(table("What each column costs", ["column", ["own loss", "number"], ["share", "number"], ["others lose now", "number"], ["without it", "number"], "if it is coarser", ["unique alone", "number"], ["unique without it", "number"]], lines), "What each column costs"),
    found.costly_rows ? h("p", { class: "help" }, `Half of the loss is in ${rows(found.costly_rows.rows)} (${share(found.costly_rows.share)} of all).`) : null, warnings(found.warnings));
}
