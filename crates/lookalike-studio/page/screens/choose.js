// Before the six screens: a table or a configuration of the folder is chosen and read.

import { address, get, post } from "../lib/api.js";
import { h, redraw } from "../lib/dom.js";
import { size } from "../lib/format.js";
import { refresh, store } from "../lib/store.js";
import { button, check, empty, errorBox, field, loading, tableBox } from "../lib/ui.js";

const KINDS = { folder: "folder", table: "table", config: "configuration" };

export function mount(root, scope) {
  const draw = () => {
    if (store.project.state === "reading") drawReading(root, scope);
    else drawFiles(root, scope);
  };
  draw();
}

function drawReading(root, scope) {
  redraw(root, h("h2", {}, "Reading the table"), loading(`${store.project.data ?? "The file"} is being read. A million rows take about a second.`));
  const timer = setInterval(async () => {
    try {
      const project = await refresh(false);
      if (project.state === "reading") return;
      clearInterval(timer);
      if (project.state === "ready") { await refresh(true); scope.go("columns"); } else mount(root, scope);
    } catch { /* the connection is watched elsewhere */ }
  }, 500);
  scope.end(() => clearInterval(timer));
}

function drawFiles(root, scope) {
  const list = h("div", {});
  const reading = { sheet: "", delimiter: "", encoding: "", names: "", header: false };
  const message = h("div", { "aria-live": "polite" });
  const open = (path) => openPath(path, reading, root, scope, message);
  redraw(root,
    h("h2", {}, "Choose a table"),
    h("p", { class: "intro" }, "Tables (CSV, Excel, OpenDocument, Parquet, Arrow) and configurations of the folder ", h("code", {}, store.project.folder), ". Nothing outside of it can be opened; start the program in another folder for that."),
    store.project.state === "failed" && store.project.error ? errorBox(store.project.error) : null,
    message, list, optionsBox(reading, store.project.state === "failed"));
  drawFolder(list, scope.memory.under ?? "", open, scope);
}

function optionsBox(reading, isOpen) {
  const input = (key, label, help, extra = {}) => field(label, h("input", { type: "text", oninput: (event) => { reading[key] = event.target.value; }, ...extra }), help);
  return h("details", { class: "fold", open: isOpen }, h("summary", {}, "How the file is read (only if it is read wrongly)"),
    h("div", { class: "fields" },
      input("delimiter", "Delimiter", "guessed when empty; “;” or “,”, or “tab”", { size: 4 }),
      input("encoding", "Encoding", "such as windows-1252; UTF-8 when empty"),
      input("sheet", "Sheet", "of a workbook; the first one with cells when empty"),
      input("names", "Names of the columns", "of a table without a header line, with commas between"),
      check("The first line is the header, although it looks like a row", false, (value) => { reading.header = value; }, null, { id: "trust-header" })));
}

async function drawFolder(list, under, open, scope) {
  scope.memory.under = under;
  redraw(list, loading("Looking into the folder …"));
  const enter = (path) => drawFolder(list, path, open, scope);
  try {
    const { entries } = await get(address(["files"], { under }), { signal: scope.signal });
    const up = under ? [{ name: "..", kind: "folder", path: under.split("/").slice(0, -1).join("/") }] : [];
    const all = [...up, ...entries.map((entry) => ({ ...entry, path: under ? `${under}/${entry.name}` : entry.name }))];
    if (!entries.length) redraw(list, under ? button("Back", () => enter(up[0].path)) : null, empty("There is no table in this folder. Put one there (CSV, Excel, Parquet, …) and look again.", button("Look again", () => enter(under))));
    else redraw(list, tableBox(fileTable(all, enter, open), "Files of the folder"));
  } catch (error) {
    if (error.name !== "AbortError") redraw(list, errorBox(error, () => enter(under)));
  }
}

function fileTable(entries, enter, open) {
  return h("table", { class: "files" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "name"), h("th", { scope: "col" }, "kind"), h("th", { scope: "col", class: "number" }, "size"))),
    h("tbody", {}, entries.map((entry) => h("tr", {},
      h("td", {}, h("button", { type: "button", class: "link", onclick: () => entry.kind === "folder" ? enter(entry.path) : open(entry.path) }, entry.kind === "folder" ? `${entry.name}/` : entry.name)),
      h("td", {}, KINDS[entry.kind] ?? entry.kind),
      h("td", { class: "number" }, entry.kind === "folder" ? "" : size(entry.size))))));
}

async function openPath(path, reading, root, scope, message) {
  const names = reading.names.split(",").map((name) => name.trim()).filter(Boolean);
  const delimiter = reading.delimiter.trim().toLowerCase() === "tab" ? "\t" : reading.delimiter;
  try {
    await post("/api/open", { path, sheet: reading.sheet || null, delimiter: delimiter || null, encoding: reading.encoding || null, names: names.length ? names : null, header: reading.header });
    store.project = { ...store.project, state: "reading", data: path };
    store.columns = null;
    store.measure = null;
    drawReading(root, scope);
  } catch (error) { redraw(message, errorBox(error)); }
}
