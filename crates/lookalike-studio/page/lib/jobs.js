// The one job that may run: search, frontier, explain, write, report or verify. Its events can be
// read again from the start, so a reload in the middle loses nothing.

import { events, isAbort, post } from "./api.js";
import { h, redraw } from "./dom.js";
import { seconds, share } from "./format.js";
import { emit, flush, on, refresh, store } from "./store.js";
import { announce, shareBar } from "./ui.js";

/** { id, kind, state: running|done|failed, stage, progress: [], points: [], ks, warnings: [], found, result, error };
    `found` is the result of a search that is kept already and still being measured. */
export const jobs = { current: null, last: {} };

const blank = (id, kind) => ({ id, kind, state: "running", stage: null, progress: [], points: [], ks: null, warnings: [], found: null, result: null, error: null, begun: Date.now() });

export const isRunning = (kind) => jobs.current?.state === "running" && (!kind || jobs.current.kind === kind);

function take(job, event, data) {
  if (event === "stage") job.stage = data.stage;
  else if (event === "progress") job.progress.push(data);
  else if (event === "warning") job.warnings.push(data.message);
  else if (event === "ks") job.ks = data.ks;
  else if (event === "point") job.points.push(data);
  else if (event === "result") job.found = data;
  else if (event === "done") Object.assign(job, { state: "done", result: data });
  if (event === "done" && job.kind === "frontier") remember(data.points ?? job.points);
  if (event === "failed") Object.assign(job, { state: "failed", error: data.error });
}

function forget(job) {
  job.progress.length = 0;
  job.points.length = 0;
  job.warnings.length = 0;
}

async function follow(job) {
  for (let attempt = 0; job.state === "running"; attempt += 1) {
    forget(job);
    try {
      await events(`/api/jobs/${job.id}/events`, (event, data) => { take(job, event, data); emit("job", job); });
    } catch (error) {
      if (isAbort(error)) return;
      if (error.status) { Object.assign(job, { state: "failed", error }); break; }
    }
    if (job.state === "running") await new Promise((wake) => setTimeout(wake, Math.min(5000, 500 * 2 ** attempt)));
  }
  emit("job", job);
  announce(`${kindName(job)}: ${job.state === "done" ? "done" : job.error?.message ?? "failed"}`);
  try { await refresh(false); } catch { /* the connection is watched elsewhere */ }
  emit("job", job);
}

function attach(id, kind) {
  const job = blank(id, kind);
  jobs.current = job;
  jobs.last[kind] = job;
  emit("job", job);
  follow(job);
  return job;
}

/** Starts a job with what is saved; an error is thrown to the caller. */
export async function start(body) {
  if (!await flush()) throw store.saveError ?? new Error("The configuration is not saved yet.");
  const { id } = await post("/api/jobs", body);
  return attach(id, body.kind);
}

/** Follows a job that runs already: after a reload, or started by another tab. */
export function join() {
  const job = store.project?.job;
  if (job && job.state === "running" && jobs.current?.id !== job.id) attach(job.id, job.kind);
}

/** `event: job` of the stream of changes. */
export async function heard({ id, state }) {
  if (state === "running" && jobs.current?.id !== id) { await refresh(false); join(); }
  else if (jobs.current?.id !== id) await refresh(false);
}

export const stop = (job) => post(`/api/jobs/${job.id}/stop`);
export const abandon = (job) => post(`/api/jobs/${job.id}/abandon`);

// The last frontier is kept for a reload of the tab.
const KEY = "lookalike-frontier";

function remember(points) {
  sessionStorage.setItem(KEY, JSON.stringify({ data: store.project?.data, etag: store.project?.etag, settings: store.project?.request, points }));
}

/** What was found in a table that is read again. */
on("table", () => {
  jobs.last = {};
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(PINS);
});

/** Points of the last frontier of this table, with `stale` when the configuration is another now. */
export function frontier() {
  if (isRunning("frontier")) return { points: jobs.current.points, settings: store.project.request, stale: false };
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY));
    return kept && kept.data === store.project.data ? { points: kept.points, settings: kept.settings, stale: kept.etag !== store.project.etag } : null;
  } catch { return null; }
}

// Points of the frontier that are pinned as A or B; results are pinned by the server.
const PINS = "lookalike-points";

/** { A: { point, settings }, B: … } of this table. */
export function pinnedPoints() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PINS));
    return kept && kept.data === store.project.data ? kept.pins : {};
  } catch { return {}; }
}

/** Pins a point ({ point, settings }), or with null takes the pin away. */
export function pinPoint(as, pinned) {
  const pins = { ...pinnedPoints(), [as]: pinned };
  sessionStorage.setItem(PINS, JSON.stringify({ data: store.project.data, pins }));
}

const STAGES = { read: "reading", encode: "coding", bound: "computing the lower bound", search: "searching", write: "writing", verify: "reading back and verifying", publish: "publishing", measure: "measuring distributions, risk and counts", explain: "trying changes", report: "measuring and writing the page" };
const KINDS = { search: "Search", frontier: "Frontier", explain: "Explanation", measure: "Measuring", write: "Writing", report: "Report", verify: "Verification" };
export const stageName = (job) => STAGES[job.stage] ?? job.stage ?? "starting";
export const kindName = (job) => KINDS[job.kind] ?? job.kind;

/** Changes when a job begins, reaches another stage or ends: screens are drawn again only then, so that no button is replaced under the pointer. */
export const jobKey = () => Object.values(jobs.last).map((job) => `${job.id} ${job.state} ${job.stage} ${job.points.length} ${job.found?.result}`).join() + isRunning();

/** The stage and the share of a running job; follows it by itself. */
export function progressBox(job, scope) {
  const place = h("div", { class: "job" });
  const draw = () => {
    const now = latest(job);
    redraw(place, h("p", {}, h("span", { class: "spinner", "aria-hidden": "true" }), `${stageName(job)}${now?.left ? `, ${seconds(now.left)} left` : now?.elapsed ? `, ${seconds(now.elapsed)}` : ""}`),
      typeof now?.share === "number" ? shareBar(now.share, share(now.share)) : null);
  };
  scope.on("job", () => { if (place.isConnected && job.state === "running") draw(); });
  draw();
  return place;
}

export const latest = (job) => job.progress.at(-1) ?? null;
/** The newest figures of a search, those of its result when there is one. */
export const figuresOf = (job) => job.found ?? (job.state === "done" ? job.result : null) ?? job.progress.findLast((step) => typeof step.loss === "number") ?? null;

/** True while a result is measured that is there already: stopping costs nothing but these figures. */
export const isMeasuring = () => isRunning() && jobs.current.stage === "measure";

