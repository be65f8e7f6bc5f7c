// Screen 6: the file is written, read back and judged; reports; the same as a command.

import { address, get, isAbort, post } from "../lib/api.js";
import { debounce, h, redraw } from "../lib/dom.js";
import { lost } from "../lib/format.js";
import { isMeasuring, isRunning, jobKey, jobs, progressBox, start, stop } from "../lib/jobs.js";
import { edit, setSection, store } from "../lib/store.js";
import { button, cautions, check, copyBox, empty, errorBox, field, fold, loading, mark, ruleLines, select, warnings, words } from "../lib/ui.js";
import { WORDS } from "../lib/words.js";

const PUBLISH = [["label", "labels: [20-29], groups, *"], ["set", "sets: {a, b} where there is no hierarchy"], ["bounds", "two columns: age_min, age_max"], ["center", "two columns and their middle"]];

const stem = () => (store.project.data ?? "table").split("/").at(-1).replace(/\.[^.]*$/, "");
const outPath = () => store.draft.output?.path || `${stem()}-safe.csv`;

export function mount(root, scope) {
  const state = scope.memory;
  state.force ??= false;
  state.to ??= `${stem()}-report`;
  state.title ??= "";
  const parts = { write: h("section", { class: "panel" }), report: h("section", { class: "panel" }), same: h("section", { class: "panel" }), view: h("div", {}) };
  const drawWrite = () => drawWriting(parts.write, state, parts.view, scope);
  const drawReport = () => drawReports(parts.report, state, parts.view, scope);
  const drawSame = debounce(400, () => drawCommand(parts.same, scope));
  redraw(root, h("div", { class: "screen-head" }, h("h2", {}, "Release"),
    h("p", { class: "intro" }, "The file is written, read back from disk and judged by code that had no part in making it. If a rule is broken, the file is removed.")),
  h("div", { class: "two" }, h("div", {}, parts.write), h("div", {}, parts.report, parts.same)), parts.view,
  words("codebook", "class", "k", "loss"));
  let key = jobKey();
  scope.on("job", () => { if (key !== jobKey()) { key = jobKey(); drawWrite(); drawReport(); } });
  let known = JSON.stringify(store.project.results);
  scope.on("results", () => {
    const now = JSON.stringify(store.project.results);
    if (now !== known) { known = now; drawWrite(); }
  });
  scope.on("edit", drawSame);
  scope.end(drawSame.cancel);
  drawWrite();
  drawReport();
  drawCommand(parts.same, scope);
}

async function run(state, key, body, redo) {
  state[key] = null;
  try { await start(body); } catch (error) { if (!isAbort(error)) state[key] = error; }
  redo();
}

// Write and verify

function drawWriting(place, state, view, scope) {
  const again = () => drawWriting(place, state, view, scope);
  // The rows of older results are forgotten when memory is needed.
  const results = (store.project.results ?? []).filter((result) => result.rows);
  const output = store.draft.output ?? {};
  if (!results.length) {
    redraw(place, h("h3", {}, "Write the release"), empty("There is no result to write yet.", button("Go to the search", () => scope.go("search"), { kind: "main" })), verifyBox(state, again, scope));
    return;
  }
  state.result = results.some((result) => result.id === state.result) ? state.result : results.at(-1).id;
  const chosen = results.find((result) => result.id === state.result);
  const options = [...results].reverse().map((result) => [String(result.id), `${result.pinned ? `${result.pinned}: ` : ""}${result.label}, loss ${lost(result.loss)}${result.stale ? ", older settings" : ""}`]);
  const write = () => {
    const body = { kind: "write", result: state.result, path: outPath(), force: state.force, codebook: output.codebook === true };
    state.force = false; // for this one time
    return run(state, "writeError", body, again);
  };
  redraw(place, h("h3", {}, "Write the release"),
    h("div", { class: "fields" },
      field("Result", select(options, String(state.result), (value) => { state.result = Number(value); again(); }, { id: "write-result" })),
      field("File", h("input", { type: "text", id: "write-path", value: outPath(), spellcheck: "false", oninput: (event) => setSection("output", "path", event.target.value.trim()) }), "in the folder of the table; .csv, .parquet, …"),
      field("Cells are published as", select(PUBLISH, output.publish ?? "label", (value) => setSection("output", "publish", value === "label" ? null : value), { id: "write-publish" })),
      check("Intervals of the hierarchy, not exact ends", output.snap === true, (value) => setSection("output", "snap", value || null), "[20-29] in place of [22-27]; exact ends are true minima and maxima", { id: "write-snap" }),
      check("Codebook", output.codebook === true, (value) => setSection("output", "codebook", value || null), WORDS.codebook, { id: "write-codebook" }),
      check("Overwrite a file of this name", state.force, (value) => { state.force = value; }, null, { id: "write-force" })),
    chosen?.stale ? h("div", {}, mark("warn", "This result was made with other settings than those of now: the command and the report would not fit it. ", h("a", { href: "#/search" }, "Search again"), " with the settings of now, or:"),
      button("Take the settings of this result", () => takeSettings(state, again), { id: "take-settings" })) : null,
    isMeasuring() ? h("p", { class: "help" }, "The result is still being measured; it can be written after that, or at once if you stop it. ", button("Stop measuring", () => stop(jobs.current).catch(() => {}), { kind: "small", id: "stop-measuring" })) : null,
    button("Write and verify", write, { kind: "main", id: "write", disabled: isRunning() }),
    isRunning("write") ? progressBox(jobs.current, scope) : null,
    state.writeError ? errorBox(state.writeError) : null,
    written(jobs.last.write, view), verifyBox(state, again, scope));
}

function written(job, view) {
  if (!job || job.state === "running") return null;
  if (job.state === "failed") return errorBox(job.error);
  const { path, verified, lines, codebook } = job.result;
  return h("div", { class: `box ${verified ? "good" : "bad"}`, role: "status" },
    mark(verified ? "good" : "bad", h("strong", {}, verified ? `${path} is written, read back and verified.` : `${path} did not pass and was removed.`)),
    job.result.cautions ? cautions(job.result.cautions) : null, ruleLines(lines),
    codebook?.length ? h("p", {}, "Codebook: ", codebook.map((file) => h("span", { class: "inline-label file-name" }, file, file.endsWith(".html") ? button("Show it", () => showFile(view, file), { kind: "small", "aria-label": `Show ${file}` }) : null))) : null, warnings(job.warnings));
}

function verifyBox(state, again, scope) {
  const job = jobs.last.verify;
  const verify = () => run(state, "verifyError", { kind: "verify", path: outPath() }, again);
  return fold("Verify a file that is there already", state, "verifyOpen",
    h("p", { class: "help" }, `Judges ${outPath()} by the rules as they are now.`),
    button("Verify", verify, { id: "verify", disabled: isRunning() }),
    isRunning("verify") ? progressBox(jobs.current, scope) : null,
    state.verifyError ? errorBox(state.verifyError) : null,
    job?.state === "failed" ? errorBox(job.error) : null,
    job?.state === "done" ? h("div", { class: `box ${job.result.holds ? "good" : "bad"}`, role: "status" }, mark(job.result.holds ? "good" : "bad", h("strong", {}, job.result.holds ? "Every rule is satisfied." : "A rule is broken.")), ruleLines(job.result.lines)) : null);
}

/** The configuration becomes the one that the chosen result was made with; undo brings the other back. */
async function takeSettings(state, again) {
  try {
    const { settings } = await get(address(["results", String(state.result)]));
    edit((draft) => { Object.keys(draft).forEach((key) => delete draft[key]); Object.assign(draft, settings); });
  } catch (error) { if (!isAbort(error)) state.writeError = error; }
  again();
}

// Reports

function drawReports(place, state, view, scope) {
  const again = () => drawReports(place, state, view, scope);
  const job = jobs.last.report;
  const make = (edition) => {
    state.edition = edition;
    return run(state, "reportError", { kind: "report", path: outPath(), edition, title: state.title || null, to: `${state.to.replace(/\.html$/, "")}-${edition}.html`, force: state.reportForce === true }, again);
  };
  const hasFile = jobs.last.write?.state === "done";
  redraw(place, h("h3", {}, "Report"),
    h("p", { class: "help" }, "One page for those who decide: verdict, loss of each column, remaining risk, and a record to be filed. The internal edition has counts of the source and is as confidential as the table; the public one may go with the release."),
    h("div", { class: "fields" },
      field("Title", h("input", { type: "text", id: "report-title", value: state.title, oninput: (event) => { state.title = event.target.value; } })),
      field("File", h("input", { type: "text", id: "report-to", value: state.to, spellcheck: "false", oninput: (event) => { state.to = event.target.value; } }), "with -internal.html or -public.html behind it"),
      check("Overwrite a report of an earlier session", state.reportForce === true, (value) => { state.reportForce = value; }, null, { id: "report-force" })),
    hasFile ? null : h("p", { class: "help" }, `A report is about a written release (${outPath()}): write it first, unless it is there already.`),
    h("div", { class: "actions" }, button("Report, internal", () => make("internal"), { id: "report-internal", disabled: isRunning() }), button("Report, public", () => make("public"), { id: "report-public", disabled: isRunning() })),
    isRunning("report") ? progressBox(jobs.current, scope) : null,
    state.reportError ? errorBox(state.reportError) : null,
    job?.state === "failed" ? errorBox(job.error) : null,
    job?.state === "done" ? h("p", { role: "status" }, "Written: ", h("strong", {}, job.result.path), " ", button("Show it", () => showFile(view, job.result.path), { kind: "small", id: "show-report" })) : null);
  if (job?.state === "done" && state.shown !== job.id) {
    state.shown = job.id;
    showFile(view, job.result.path);
  }
}

/** A page that the session wrote, in a frame without scripts; its address is good for one look. */
async function showFile(view, path) {
  redraw(view, loading("Opening the page …"));
  try {
    const { address } = await post("/api/show", { path });
    redraw(view, h("section", { class: "panel" }, h("h3", {}, path), h("iframe", { class: "report", sandbox: "", src: address, title: `Page ${path}` })));
    view.scrollIntoView({ block: "nearest" });
  } catch (error) { redraw(view, errorBox(error, () => showFile(view, path))); }
}

// The same as a command

async function drawCommand(place, scope) {
  try {
    const same = await post("/api/same", { path: outPath() }, { signal: scope.signal });
    redraw(place, h("h3", {}, "The same without this page"), h("p", { class: "help" }, "The command reads the files that this page has saved."), copyBox("Command line", same.command), copyBox("Python", same.python));
  } catch (error) { if (!isAbort(error)) redraw(place, h("h3", {}, "The same without this page"), errorBox(error, () => drawCommand(place, scope))); }
}
