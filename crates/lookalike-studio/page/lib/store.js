// What the page knows of the project: the server's answer, the request as edited here (`draft`),
// autosave, undo, and the live measure. The files on disk are the state; this is a copy of them.

import { ApiError, get, isAbort, post, put } from "./api.js";
import { debounce } from "./dom.js";

export const store = {
  project: null,
  draft: null,
  columns: null,      // answer of /api/columns, or null until it was read
  measure: null,      // answer of /api/measure for the draft
  measuring: false,
  save: "saved",      // saved | unsaved | saving | refused | conflict | lost
  saveError: null,
  disk: null,         // files that another program changed: { files, table }
};

const listeners = new Map();

/** Types: project (replaced from outside), edit (by this page), save, columns, measure, results, table (read again). */
export function on(type, act) {
  if (!listeners.has(type)) listeners.set(type, new Set());
  listeners.get(type).add(act);
  return () => listeners.get(type).delete(act);
}
export const emit = (type, detail) => [...(listeners.get(type) ?? [])].forEach((act) => act(detail));

let edits = 0;        // changes made here
let savedEdits = 0;   // of these, on disk
let running = null;   // promise of the save under way
const own = new Set(); // promises of our other changes under way

/** Runs a change of ours; events that tell of it are then not taken for somebody else's. */
export async function ours(act) {
  const promise = act();
  own.add(promise);
  try { return await promise; } finally { own.delete(promise); }
}

// What could not be saved because the program was gone; offered again after a new start.
const UNSAVED = "lookalike-unsaved";
const placeOf = (project) => `${project.folder}/${project.config}`;

/** A request that an earlier start could not save, or null. */
export function unsaved() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(UNSAVED));
    return kept && kept.of === placeOf(store.project) && JSON.stringify(kept.request) !== JSON.stringify(store.project.request) ? kept.request : null;
  } catch { return null; }
}
export const forgetUnsaved = () => sessionStorage.removeItem(UNSAVED);

export const isDirty = () => edits !== savedEdits;

function setSave(state, error = null) {
  store.save = state;
  store.saveError = error;
  if (state === "lost") sessionStorage.setItem(UNSAVED, JSON.stringify({ of: placeOf(store.project), request: store.draft }));
  emit("save");
}

/** Takes an answer with the whole project. `replace`: forms must be drawn again. */
export function accept(project, replace) {
  store.project = project;
  if (!isDirty()) store.draft = structuredClone(project.request ?? {});
  if (!isDirty()) setSave("saved");
  emit("results");
  if (replace) {
    emit("project");
    loadColumns();
    measureSoon();
  }
}

export async function refresh(replace = true) {
  accept(await get("/api/project"), replace);
  return store.project;
}

/** The one way to change the configuration: mutate the draft; it is saved by itself. */
export function edit(mutate) {
  if (store.project.error) return; // the file cannot be read: it must not be written over
  mutate(store.draft);
  edits += 1;
  setSave("unsaved");
  saveSoon();
  measureSoon();
  emit("edit");
}

const saveSoon = debounce(300, () => flush());

async function saveAll() {
  while (isDirty()) {
    const version = edits;
    setSave("saving");
    try {
      const project = await put("/api/project", { etag: store.project.etag, request: store.draft });
      savedEdits = version;
      forgetUnsaved();
      accept(project, false);
    } catch (error) {
      refused(error);
      return false;
    }
  }
  columnsSoon();
  return true;
}

function refused(error) {
  if (error instanceof ApiError && error.status === 412) setSave("conflict", error);
  else if (error instanceof ApiError) setSave("refused", error);
  else setSave("lost", error);
}

/** Saves what is not saved yet; true when all is on disk. */
export function flush() {
  saveSoon.cancel();
  if (!isDirty()) return Promise.resolve(true);
  if (store.save === "conflict") return Promise.resolve(false);
  running ??= saveAll().finally(() => { running = null; });
  return running;
}

/** Called when the tab closes: the browser finishes this request by itself. */
export function lastSave() {
  if (!isDirty() || store.save === "conflict") return;
  put("/api/project", { etag: store.project.etag, request: store.draft }, { keepalive: true }).catch(() => {});
}

/** The file was changed by another program: takes that file, ours is given up. */
export async function takeTheirs() {
  await ours(async () => {
    settleFiles();
    const project = await post("/api/reload");
    discard();
    accept(project, true);
  });
}

/** ... or ours is written over it (a save without an etag); theirs remains as a step of undo. */
export const keepMine = () => ours(async () => {
  const version = edits;
  settleFiles();
  const project = await put("/api/project", { request: store.draft });
  savedEdits = version;
  forgetUnsaved();
  setSave("saved");
  accept(project, true);
  if (isDirty()) saveSoon();
});

/** Forgets changes that are not saved. */
export function discard() {
  savedEdits = edits;
  forgetUnsaved();
}

async function step(way) {
  if (!store.project[way] && !(way === "undo" && isDirty())) return;
  if (!await flush() && store.save !== "refused") return;
  savedEdits = edits; // a refused edit is given up by undo
  await ours(async () => accept(await post(`/api/${way}`), true));
}
export const undo = () => step("undo");
export const redo = () => step("redo");

/** Somebody changed the configuration (another tab, another program, or we ourselves). */
export const changed = () => look();

// Late enough for the answers of our own calls; only the newest etag counts.
const look = debounce(200, async () => {
  try {
    await Promise.allSettled([running, ...own]);
    const project = await get("/api/project");
    if (running || own.size) return;
    if (project.etag === store.project.etag && project.state === store.project.state) takeResults(project);
    else if (isDirty()) setSave("conflict", new Error("changed"));
    else accept(project, true);
  } catch { /* the connection is watched elsewhere */ }
});

/** The configuration is ours; another tab may have pinned or forgotten a result. */
function takeResults(project) {
  const isSame = JSON.stringify(project.results) === JSON.stringify(store.project.results);
  store.project = project;
  if (!isSame) emit("results");
}

/** A program wrote the configuration, a hierarchy file or the table; the server has not taken it. */
export function changedOnDisk(disk) {
  store.disk = disk;
  if (disk.files.length) setSave("conflict", new Error("changed"));
  else emit("save");
}

/** What is on disk counts now, or what this page has; the table is another matter. */
function settleFiles() {
  if (store.disk) store.disk = { files: [], table: store.disk.table };
}

/** The table is read again; the screen for that follows it. */
export async function readTableAgain() {
  await flush();
  await post("/api/open-again");
  store.disk = null;
  store.columns = null;
  store.measure = null;
  store.project = { ...store.project, state: "reading" };
  emit("table");
  emit("project");
}

// Columns

export async function loadColumns() {
  if (store.project?.state !== "ready") return;
  try {
    const columns = await get("/api/columns");
    const isSame = store.columns && JSON.stringify(columns) === JSON.stringify(store.columns);
    store.columns = columns;
    if (!isSame) emit("columns");
  } catch (error) {
    emit("columns", error);
  }
}
const columnsSoon = debounce(400, loadColumns);

// Measure

let asked = null;
let wanted = 0;

/** A screen that shows the measure says so, and gets a function that ends it. */
export function wantMeasure() {
  wanted += 1;
  if (!store.measure) measureSoon();
  return () => { wanted -= 1; };
}

async function measureNow() {
  if (!wanted || store.project?.state !== "ready") { store.measure = null; return; }
  asked?.abort();
  asked = new AbortController();
  store.measuring = true;
  emit("measure");
  try {
    store.measure = await post("/api/measure", { request: store.draft }, { signal: asked.signal });
  } catch (error) {
    if (isAbort(error)) return;
    store.measure = { error: { message: error.message, code: error.code, column: error.column } };
  }
  store.measuring = false;
  emit("measure");
}
const measureSoon = debounce(250, measureNow);

// Columns of the request

export const columnOf = (name) => store.draft?.columns?.[name] ?? null;
export const roleOf = (name) => columnOf(name)?.role ?? null;
export const columnsWith = (role) => (store.columns?.columns ?? []).map((column) => column.name).filter((name) => roleOf(name) === role);

const RULES = ["alpha", "values", "l", "distinct", "entropy", "recursive", "t", "distance"];
const COARSER = ["round", "top", "bottom"];
const KEYS = {
  quasi: ["kind", "weight", "hierarchy", "order", "scheme", "format"],
  sensitive: [...RULES, ...COARSER, "kind", "order", "hierarchy", "dependent", "format"],
  keep: [...COARSER, "kind", "dependent", "format"],
  identifier: ["hash"],
  person: [],
  weight: ["kind", "dependent", "format"],
};
const OF_ROLES = new Set(Object.values(KEYS).flat());
const shelf = new Map(); // keys that another role had, for the way back

/** Gives a column a role; keys that mean nothing there are put aside, since they would be errors. A column that
 * had no role gets the keys that are suggested for it. */
function putRole(draft, name, role) {
  draft.columns ??= {};
  const { suggested, settings } = store.columns?.columns.find((column) => column.name === name) ?? {};
  const { role: _, reason, ...first } = settings ?? {};
  const old = draft.columns[name] ?? (role === suggested && reason ? { reason } : {});
  const kept = {};
  const aside = { ...(draft.columns[name] ? {} : first), ...shelf.get(name) };
  for (const [key, value] of Object.entries(old)) {
    if (key === "role") continue;
    if (!OF_ROLES.has(key) || KEYS[role].includes(key)) kept[key] = value;
    else aside[key] = value;
  }
  for (const key of KEYS[role]) if (kept[key] === undefined && aside[key] !== undefined) kept[key] = aside[key];
  // Of a column that is published as it is, the form only matters where it is rounded.
  if (role === "keep" && !COARSER.some((key) => kept[key] !== undefined)) delete kept.format;
  shelf.set(name, aside);
  draft.columns[name] = { role, ...kept };
}

export const setRole = (name, role) => edit((draft) => putRole(draft, name, role));

/** Several columns at once, as one change; without a role, `rest` decides about them. */
export const setRoles = (names, role) => edit((draft) => names.forEach((name) => {
  if (role) putRole(draft, name, role);
  else delete draft.columns?.[name];
}));

/** Takes a column's line away: `rest` decides about it. */
export const clearRole = (name) => setRoles([name], null);

/** Columns of the configuration that the table does not have. */
export function strangers() {
  const names = new Set(store.columns?.columns.map((column) => column.name));
  return store.columns ? Object.keys(store.draft?.columns ?? {}).filter((name) => !names.has(name)) : [];
}

/** Sets or (null) removes a key of a column. */
export function setKey(name, key, value) {
  edit((draft) => setIn(draft.columns[name], key, value));
}

/** Sets or removes a key of a section such as limits or output. */
export function setSection(section, key, value) {
  edit((draft) => {
    draft[section] ??= {};
    setIn(draft[section], key, value);
    if (Object.keys(draft[section]).length === 0) delete draft[section];
  });
}

export function setIn(object, key, value) {
  if (value === null || value === undefined || value === "") delete object[key];
  else object[key] = value;
}
