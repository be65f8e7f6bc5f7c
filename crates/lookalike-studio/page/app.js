// Start: token, router, header, notices, keys. The screens are modules with `mount(root, scope)`.

import { events, isAbort, post, setToken, watch } from "./lib/api.js";
import { h, redraw } from "./lib/dom.js";
import { share, time } from "./lib/format.js";
import { heard, isRunning, join, jobs, kindName, latest, stageName } from "./lib/jobs.js";
import { changed, changedOnDisk, discard, edit, emit, flush, forgetUnsaved, isDirty, keepMine, lastSave, loadColumns, on, readTableAgain, redo, refresh, store, takeTheirs, undo, unsaved } from "./lib/store.js";
import { announce, button, copyBox, dialog, errorBox, loading } from "./lib/ui.js";
import * as choose from "./screens/choose.js";
import * as columns from "./screens/columns.js";
import * as hierarchies from "./screens/hierarchies.js";
import * as release from "./screens/release.js";
import * as result from "./screens/result.js";
import * as rules from "./screens/rules.js";
import * as search from "./screens/search.js";

const SCREENS = [
  ["columns", "Columns", columns], ["hierarchies", "Hierarchies", hierarchies], ["rules", "Rules", rules],
  ["search", "Search", search], ["result", "Result", result], ["release", "Release", release],
];
const main = document.getElementById("main");
const top = document.getElementById("top");
const notices = document.getElementById("notices");
const remembered = {}; // what a screen wants to find again when the user comes back

// Token

const TOKEN = "lookalike-token";

/** The token of the fragment goes to sessionStorage and out of the address, before any request. */
function takeToken() {
  const fragment = location.hash.slice(1);
  if (fragment && !fragment.startsWith("/") && fragment !== "main") {
    sessionStorage.setItem(TOKEN, fragment);
    history.replaceState(null, "", `${location.pathname}#/columns`);
  }
  const token = sessionStorage.getItem(TOKEN);
  setToken(token);
  return token;
}

function showGate(reason) {
  stream?.abort();
  unmount();
  redraw(top, h("div", { class: "bar" }, h("h1", { class: "brand" }, "lookalike studio")));
  redraw(notices);
  const paste = h("input", { type: "text", id: "gate-address", autocomplete: "off", placeholder: "http://127.0.0.1:…/#…" });
  const open = () => {
    const fragment = paste.value.trim().split("#").at(-1);
    if (fragment) { sessionStorage.setItem(TOKEN, fragment); location.reload(); }
  };
  redraw(main, h("section", { class: "gate" }, h("h2", {}, "This page needs the address that the program printed"),
    h("p", {}, reason),
    h("p", {}, "Start ", h("code", {}, "lookalike studio"), " in a terminal and open the address that it prints. It has a secret behind the # sign, new at each start, so that no other page or user of this computer can read your table."),
    h("p", {}, "A second tab needs that address too."),
    h("form", { class: "inline", onsubmit: (event) => { event.preventDefault(); open(); } }, h("label", { htmlFor: "gate-address" }, "Address"), paste, h("button", { class: "button main" }, "Open"))));
}

// Router

let mounted = null;

function unmount() {
  mounted?.ends.forEach((end) => end());
  mounted?.control.abort();
  mounted = null;
}

function wanted() {
  const name = location.hash.replace(/^#\//, "");
  if (store.project.state !== "ready" || name === "choose") return "choose";
  return SCREENS.some(([key]) => key === name) ? name : "columns";
}

function makeScope(name) {
  const control = new AbortController();
  const ends = [];
  return { name, control, ends, signal: control.signal, memory: remembered[name] ??= {},
    on: (type, act) => ends.push(on(type, act)), end: (act) => ends.push(act), go };
}

function go(name) {
  if (location.hash === `#/${name}`) show();
  else location.hash = `#/${name}`;
}

function show() {
  if (!store.project) return;
  const name = wanted();
  const module = name === "choose" ? choose : SCREENS.find(([key]) => key === name)[2];
  const isSame = mounted?.name === name;
  unmount();
  mounted = makeScope(name);
  drawHeader();
  main.setAttribute("aria-label", name);
  const root = h("div", { class: `screen screen-${name}`, id: "panel", role: name === "choose" ? null : "tabpanel", "aria-labelledby": name === "choose" ? null : `tab-${name}` });
  const next = SCREENS[SCREENS.findIndex(([key]) => key === name) + 1];
  const parts = name === "choose" || !next ? [root] : [root, h("p", { class: "next" }, h("a", { href: `#/${next[0]}`, class: "button" }, `Next: ${next[1]} →`))];
  if (isSame) redraw(main, ...parts); else main.replaceChildren(...parts);
  module.mount(root, mounted);
  if (!isSame) scrollTo(0, 0);
  const title = name === "choose" ? "Choose a table" : SCREENS.find(([key]) => key === name)[1];
  document.title = `${title} – ${store.project.data ?? "lookalike studio"} – lookalike studio`;
}

// Header

const SAVES = {
  saved: () => store.project.saved ? `saved ${time(store.project.saved)}` : "no changes yet",
  unsaved: () => "saving…", saving: () => "saving…", refused: () => "not saved: see the message", conflict: () => "not saved: see the message", lost: () => "not saved: no connection",
};

function tab([name, label], at) {
  const isCurrent = mounted?.name === name;
  return h("a", { role: "tab", id: `tab-${name}`, href: `#/${name}`, tabIndex: isCurrent || mounted?.name === "choose" && at === 0 ? 0 : -1, "aria-selected": isCurrent, "aria-controls": isCurrent ? "panel" : null, class: "tab" },
    h("span", { class: "tab-number" }, at + 1), h("span", {}, label));
}

function moveTab(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -99, End: 99 }[event.key];
  if (!step) return;
  event.preventDefault();
  const at = SCREENS.findIndex(([name]) => name === mounted.name);
  const next = Math.abs(step) === 99 ? (step < 0 ? 0 : SCREENS.length - 1) : (at + step + SCREENS.length) % SCREENS.length;
  go(SCREENS[next][0]);
  setTimeout(() => document.getElementById(`tab-${SCREENS[next][0]}`)?.focus(), 0);
}

function jobChip() {
  const job = jobs.current;
  if (!isRunning()) return null;
  const done = latest(job)?.share;
  const target = { search: "search", frontier: "search", explain: "result", measure: "result" }[job.kind] ?? "release";
  return h("a", { class: "chip running", id: "job-chip", href: `#/${target}` }, h("span", { class: "spinner", "aria-hidden": "true" }), `${kindName(job)}: ${stageName(job)}${typeof done === "number" ? ` ${share(done)}` : ""}`);
}

function drawHeader() {
  const { project } = store;
  const isReady = project?.state === "ready";
  redraw(top,
    h("div", { class: "bar" },
      h("h1", { class: "brand" }, "lookalike studio"),
      project?.data ? h("span", { class: "file", title: `${project.folder}/${project.data}` }, project.data) : null,
      h("span", { class: "promise" }, "nothing leaves this computer"),
      h("span", { class: "grow" }),
      h("span", { id: "job-slot" }, jobChip()),
      isReady ? h("span", { class: "saved", role: "status", id: "save-state" }) : null,
      isReady ? h("span", { class: "group" },
        button("↶", act(undo), { kind: "icon", id: "undo", "aria-label": "Undo", title: "Undo (Ctrl+Z)" }),
        button("↷", act(redo), { kind: "icon", id: "redo", "aria-label": "Redo", title: "Redo (Ctrl+Shift+Z)" })) : null,
      isReady ? button("Command", showCommand, { kind: "small", id: "command", title: "The same as a command line, in Python, and the configuration file" }) : null,
      button(theme() === "dark" ? "Light" : "Dark", switchTheme, { kind: "small", id: "theme", title: "Light or dark colours" }),
      button("More", showMore, { kind: "small", id: "more", title: "Open another table, end the program" })),
    isReady ? h("div", { class: "tabs", role: "tablist", "aria-label": "Screens", onkeydown: moveTab }, SCREENS.map(tab)) : null);
  drawSave();
}

/** Only what changes often: a header that is made anew would lose clicks and say everything again. */
function drawSave() {
  const said = document.getElementById("save-state");
  if (!said || store.project.state !== "ready") return;
  const text = SAVES[store.save]();
  if (said.textContent !== text) said.textContent = text;
  said.classList.toggle("bad", ["refused", "conflict", "lost"].includes(store.save));
  document.getElementById("undo").disabled = !store.project.undo && !isDirty();
  document.getElementById("redo").disabled = !store.project.redo;
}

function drawChip() {
  const slot = document.getElementById("job-slot");
  if (slot) redraw(slot, jobChip());
}

/** Runs an action and shows its error as a notice. */
const act = (action) => async () => {
  passing = null;
  try { await action(); } catch (error) { if (!isAbort(error)) showError(error); }
};

let passing = null;
function showError(error) {
  passing = error;
  drawNotices();
}

async function showCommand() {
  const place = h("div", {}, loading("Asking for the command …"));
  dialog("The same without this page", place, () => []);
  try {
    await flush();
    const same = await post("/api/same", { path: store.draft.output?.path ?? "safe.csv" });
    redraw(place, copyBox("Command line", same.command), copyBox("Python", same.python), copyBox(`Configuration: ${store.project.config}`, store.project.toml ?? ""));
  } catch (error) { redraw(place, errorBox(error)); }
}

function showMore() {
  const { project } = store;
  dialog("lookalike studio", h("div", {}, h("p", {}, `Version ${project?.version ?? "?"}. Folder: `, h("code", {}, project?.folder ?? "?")),
    h("p", {}, "All is kept in files: the configuration (", h("code", {}, project?.config ?? "none yet"), ") and hierarchies beside it. The command ", h("code", {}, "lookalike"), " reads the same files."),
    h("p", { class: "help" }, "Keys: Ctrl+Z undo, Ctrl+Shift+Z redo, Alt+1 to Alt+6 screens.")),
  (close) => [button("Open another table", () => { close(); go("choose"); }), button("End the program", () => { close(); quit(); }, { kind: "danger" })]);
}

async function quit() {
  await flush();
  hasQuit = true;
  try { await post("/api/quit"); } catch { /* it is gone: that was asked for */ }
  stream?.abort();
  unmount();
  redraw(top, h("div", { class: "bar" }, h("h1", { class: "brand" }, "lookalike studio")));
  redraw(notices);
  redraw(main, h("section", { class: "gate" }, h("h2", {}, "The program has ended"), h("p", {}, "All changes are saved. This tab can be closed.")));
}

// Light and dark

const theme = () => localStorage.getItem("lookalike-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
function applyTheme() { document.documentElement.dataset.theme = theme(); }
function switchTheme() {
  localStorage.setItem("lookalike-theme", theme() === "dark" ? "light" : "dark");
  applyTheme();
  drawHeader();
}

// Notices: connection, conflicts, refused changes

let isLost = false;
let hasQuit = false;

function notice(kind, text, ...actions) {
  return h("div", { class: `notice ${kind}`, role: "alert" }, h("p", {}, text), h("div", { class: "actions" }, actions));
}

function drawNotices() {
  const list = [];
  if (isLost && !hasQuit) list.push(notice("bad", "No connection: the program does not answer. If it was ended, start it again and open the address that it prints. This page tries again by itself; what you change now is kept until then."));
  const others = (store.disk?.files ?? []).filter((file) => file !== store.project.config);
  if (store.save === "conflict" && others.length && others.length === store.disk.files.length) {
    list.push(notice("warn", `${others.join(", ")} ${others.length === 1 ? "was" : "were"} changed by another program. The screens show what was there before until you take ${others.length === 1 ? "it" : "them"}; nothing of this page is lost by that.`,
      button("Take it", act(takeTheirs), { id: "take-theirs" })));
  } else if (store.save === "conflict") {
    list.push(notice("warn", `The file ${[store.project.config, ...others].join(", ")} was changed by another program or tab. Take what is on disk, or keep what this page shows? (If you keep yours, theirs remains as a step of undo.)`,
      button("Take it", act(takeTheirs), { id: "take-theirs" }), button("Keep mine", act(keepMine), { id: "keep-mine" })));
  }
  if (store.disk?.table) {
    list.push(notice("warn", `The table ${store.project.data} was changed on disk after it was read: what is shown here is the table as it was, and no search can start.`,
      button("Read it again", act(readTableAgain), { id: "read-table-again", disabled: isRunning() })));
  }
  if (store.project?.state === "ready" && store.project.error) {
    list.push(notice("bad", `The file ${store.project.config} cannot be read, so nothing can be changed here: ${store.project.error.message} Correct the file, then read it again.`, button("Read it again", act(takeTheirs), { id: "read-again" })));
  }
  if (store.save === "refused") {
    const place = store.saveError.column ? `${store.saveError.column}: ` : "";
    list.push(notice("bad", `Not saved. ${place}${store.saveError.message}`, button("Undo this change", act(giveUp), { id: "give-up" })));
  }
  const kept = store.project?.state === "ready" && store.save === "saved" ? unsaved() : null;
  if (kept) {
    list.push(notice("warn", "Changes could not be saved when the connection was lost.",
      button("Save them now", act(() => restore(kept)), { id: "restore" }), button("Forget them", () => { forgetUnsaved(); drawNotices(); }, { id: "forget" })));
  }
  if (passing) list.push(notice("bad", passing.message, button("Close", () => { passing = null; drawNotices(); }, { id: "close-notice" })));
  redraw(notices, list);
}

/** Changes of an earlier start are made again. */
async function restore(request) {
  edit((draft) => {
    Object.keys(draft).forEach((key) => delete draft[key]);
    Object.assign(draft, request);
  });
  await flush();
  show();
}

/** A change that the server refused is taken back: the saved state comes again. */
async function giveUp() {
  discard();
  await refresh(true);
  announce("The change was taken back.");
}

function watchConnection() {
  watch({
    lost: () => { isLost = true; drawNotices(); retry(); },
    found: () => { isLost = false; drawNotices(); announce("Connected again."); },
    denied: () => showGate("This address is of an earlier start of the program."),
  });
}

async function retry() {
  for (let wait = 1000; isLost && !hasQuit; wait = Math.min(5000, wait * 1.5)) {
    await new Promise((wake) => setTimeout(wake, wait));
    try { await refreshAfterLoss(); } catch { /* again */ }
  }
}

async function refreshAfterLoss() {
  if (isDirty()) await flush();
  else await refresh(true);
  join();
}

let stream = null;
async function listen() {
  stream = new AbortController();
  const { signal } = stream;
  for (let wait = 500; !signal.aborted; wait = Math.min(10000, wait * 1.5)) {
    try {
      await events("/api/changes", (event, data) => {
        wait = 500;
        if (event === "project") changed();
        if (event === "disk") changedOnDisk(data);
        if (event === "measured") emit("measured", data.result);
        if (event === "job") heard(data).catch(() => {});
      }, signal);
    } catch (error) {
      if (isAbort(error) || error.status === 401) return;
    }
    await new Promise((wake) => setTimeout(wake, wait));
  }
}

// Keys

const isText = (element) => element?.matches?.("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");

function keys(event) {
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && !event.altKey && event.key.toLowerCase() === "z" && !isText(event.target) && store.project?.state === "ready") {
    event.preventDefault();
    act(event.shiftKey ? redo : undo)();
  } else if (isCommand && event.key.toLowerCase() === "y" && !isText(event.target) && store.project?.state === "ready") {
    event.preventDefault();
    act(redo)();
  } else if (event.altKey && !isCommand && /^Digit[1-6]$/.test(event.code) && store.project?.state === "ready") {
    event.preventDefault();
    go(SCREENS[Number(event.code.slice(5)) - 1][0]);
  }
}

// Start

function wire() {
  addEventListener("hashchange", () => {
    if (location.hash && !location.hash.startsWith("#/")) {
      if (location.hash === "#main") return;
      if (takeToken()) location.reload();
      return;
    }
    show();
  });
  document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
  addEventListener("keydown", keys);
  addEventListener("pagehide", lastSave);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { applyTheme(); if (store.project) drawHeader(); });
  on("save", () => { drawSave(); drawNotices(); });
  on("results", drawSave);
  on("job", drawChip);
  on("project", () => show());
}

async function begin() {
  applyTheme();
  wire();
  if (!takeToken()) { showGate("This tab has no secret yet."); return; }
  watchConnection();
  redraw(main, loading("Connecting …"));
  try {
    await refresh(false);
  } catch (error) {
    if (error.status !== 401) redraw(main, errorBox(error, () => location.reload()));
    return;
  }
  show();
  drawNotices();
  loadColumns();
  join();
  listen();
}

begin();
