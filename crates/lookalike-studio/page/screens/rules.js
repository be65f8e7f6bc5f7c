// Screen 3: what a release must satisfy, and what the table is like now.

import { isAbort, post } from "../lib/api.js";
import { debounce, h, redraw } from "../lib/dom.js";
import { count, number, percentText, rows, share } from "../lib/format.js";
import { columnOf, columnsWith, edit, loadColumns, setIn, setKey, setSection, store, wantMeasure } from "../lib/store.js";
import { button, check, empty, errorBox, field, loading, mark, select, warnings, words } from "../lib/ui.js";
import { WORDS } from "../lib/words.js";

export function mount(root, scope) {
  if (!store.columns) {
    redraw(root, h("h2", {}, "Rules"), loading("Reading the columns …"));
    scope.on("columns", () => { if (store.columns && !root.querySelector("#rule-k")) draw(root, scope); });
    loadColumns();
    return;
  }
  draw(root, scope);
}

function draw(root, scope) {
  const effect = h("section", { class: "panel", "aria-label": "The table now" });
  const further = h("div", {});
  const drawFurther = () => redraw(further, furtherRules(drawFurther));
  drawFurther();
  redraw(root,
    h("div", { class: "screen-head" }, h("h2", {}, "Rules"),
      h("p", { class: "intro" }, "What every ", h("strong", {}, "class"), " of the release must satisfy. A class is all rows that show the same in every quasi-identifier.")),
    h("div", { class: "two" },
      h("div", {}, kPanel(), h("section", { class: "panel" }, h("h3", {}, "A further k on fewer columns"), further), sensitivePanel(scope), suppressionPanel(), personsPanel()),
      h("div", { class: "sticky" }, effect, findPanel(scope))),
    words("class", "k", "quasi-identifier", "l", "alpha", "distinct", "entropy", "t", "suppressed", "price", "person"));
  const drawNow = () => drawEffect(effect);
  scope.end(wantMeasure());
  scope.on("measure", drawNow);
  drawNow();
}

// k

function kPanel() {
  const quasi = columnsWith("quasi");
  const change = (event) => {
    const value = number(event.target.value);
    const isGood = Number.isSafeInteger(value) && value >= 1;
    event.target.setAttribute("aria-invalid", String(!isGood));
    if (isGood) edit((draft) => { draft.k = value; });
    const now = store.draft.k ?? "none";
    said.textContent = !isGood ? `k is a whole number, 1 or more. In force: k = ${now}.` : value === 1 ? "k = 1 hides nobody: a class may be one row." : "";
  };
  const said = h("p", { class: "field-error", role: "alert", id: "k-error" });
  return h("section", { class: "panel" }, h("h3", {}, "k"),
    field("k: smallest class", h("input", { type: "number", min: 1, step: 1, id: "rule-k", value: store.draft.k ?? "", oninput: change }), WORDS.k), said,
    h("p", { class: "narrow-only", id: "k-effect", "aria-hidden": "true" }),
    quasi.length ? h("p", { class: "help" }, `on ${quasi.join(", ")}`) : mark("warn", "No column is a quasi-identifier: choose them on screen 1."));
}

function furtherRules(again) {
  const list = store.draft.rules ?? [];
  const quasi = columnsWith("quasi");
  const change = (mutate) => { edit((draft) => { draft.rules ??= []; mutate(draft.rules); if (!draft.rules.length) delete draft.rules; }); again(); };
  return [
    h("p", { class: "help" }, "Such as: at least 100 rows in each postcode, whatever the other columns say."),
    list.map((rule, at) => h("fieldset", { class: "rule" }, h("legend", {}, `Rule ${at + 1}`),
      field("k", h("input", { type: "number", min: 1, id: `further-${at}`, value: rule.k ?? "", oninput: (event) => { const value = number(event.target.value); if (value >= 1) edit((draft) => { draft.rules[at].k = value; }); } })),
      h("div", { class: "checks", role: "group", "aria-label": `Columns of rule ${at + 1}` }, [...new Set([...quasi, ...(rule.columns ?? [])])].map((name) => check(quasi.includes(name) ? name : `${name} (no quasi-identifier)`, rule.columns?.includes(name) ?? false,
        (on) => change((rules) => { rules[at].columns = on ? [...(rules[at].columns ?? []), name] : rules[at].columns.filter((other) => other !== name); }), null, { id: `further-${at}-${name}` }))),
      button("Remove", () => change((rules) => rules.splice(at, 1)), { kind: "small", "aria-label": `Remove rule ${at + 1}` }))),
    button("Add a further k", () => change((rules) => rules.push({ k: Math.max(10, (store.draft.k ?? 5) * 2), columns: quasi.slice(0, 1) })), { id: "add-further", disabled: !quasi.length }),
  ];
}

// Sensitive columns

function sensitivePanel(scope) {
  const names = columnsWith("sensitive");
  return h("section", { class: "panel" }, h("h3", {}, "Sensitive columns"),
    h("p", { class: "help" }, "k hides which row is whose. It does not hide a fact that is true of a whole class: if all rows of a class have one diagnosis, it is known. These rules prevent that."),
    names.length ? names.map((name) => sensitive(name)) : empty("No column is sensitive.", button("Choose roles on screen 1", () => scope.go("columns"))));
}

const RULES = [
  ["l", "l", "l-diversity", "1", "any"],
  ["alpha", "alpha", "greatest share of one value", "%", "any"],
  ["distinct", "different values", "at least", "1", "any"],
  ["t", "t", "t-closeness, 0 to 1", "0", "any"],
];

function sensitive(name) {
  const own = columnOf(name);
  const isShare = (unit) => unit === "%";
  const input = ([key, label, , unit]) => field(label, h("input", {
    type: "text", inputmode: "decimal", size: 6, id: `rule-${name}-${key}`, value: isShare(unit) ? percentText(own[key]) : own[key] ?? "",
    oninput: (event) => {
      const value = number(event.target.value);
      const isBad = event.target.value.trim() !== "" && (value === null || value < 0);
      event.target.setAttribute("aria-invalid", String(isBad));
      if (!isBad) setKey(name, key, value === null ? null : isShare(unit) ? Number((value / 100).toFixed(8)) : value);
    },
  }), WORDS[key], { unit: isShare(unit) ? "%" : null });
  const recursive = own.recursive ?? {};
  const setRecursive = (key, value) => edit((draft) => {
    const next = { ...draft.columns[name].recursive };
    setIn(next, key, value);
    setIn(draft.columns[name], "recursive", Object.keys(next).length === 2 ? next : null);
  });
  const hasMore = own.entropy || own.recursive || own.distance || own.values;
  const isBare = !["l", "alpha", "distinct", "t", "entropy", "recursive"].some((key) => own[key]);
  const least = () => { setKey(name, "distinct", 2); document.getElementById(`rule-${name}-distinct`).value = 2; bare.remove(); };
  const bare = isBare ? h("div", { class: "bare" }, mark("warn", "No rule protects this column: all rows of a class may have one value."), button("At least 2 different values", least, { kind: "small", id: `least-${name}` })) : null;
  return h("fieldset", { class: "rule" }, h("legend", {}, name), bare,
    h("div", { class: "fields rules" }, RULES.map(input)),
    h("details", { class: "fold", open: Boolean(hasMore) }, h("summary", {}, "More rules"),
      h("div", { class: "fields rules" },
        field("alpha is about these values", h("input", { type: "text", id: `rule-${name}-values`, value: (own.values ?? []).join("; "), placeholder: "HIV; Hepatitis B", oninput: (event) => {
          const list = event.target.value.split(";").map((text) => text.trim()).filter(Boolean);
          setKey(name, "values", list.length ? list : null);
        } }), "with ; between. Empty: about every value."),
        input(["entropy", "entropy", "", "1"]),
        field("distance of t", select([["", "as the kind of the column says"], ["equal", "equal: all values equally far"], ["ordered", "ordered: by their order"], ["hierarchical", "hierarchical: by the hierarchy"]], own.distance ?? "", (value) => setKey(name, "distance", value), { id: `rule-${name}-distance` })),
        field("recursive c", h("input", { type: "text", inputmode: "decimal", size: 5, id: `rule-${name}-c`, value: recursive.c ?? "", oninput: (event) => setRecursive("c", number(event.target.value)) }), "The commonest value is rarer than c times all from the l-th commonest on. Needs both numbers."),
        field("recursive l", h("input", { type: "text", inputmode: "numeric", size: 5, id: `rule-${name}-cl`, value: recursive.l ?? "", oninput: (event) => setRecursive("l", number(event.target.value)) })))));
}

// Suppression, loss, persons

function suppressionPanel() {
  const limits = store.draft.limits ?? {};
  const percent = (key, label, help) => field(label, h("input", { type: "text", inputmode: "decimal", size: 6, id: `limit-${key}`, value: percentText(limits[key]), oninput: (event) => {
    const value = number(event.target.value);
    setSection("limits", key, value === null ? null : `${value}%`);
  } }), help, { unit: "%" });
  return h("section", { class: "panel" }, h("h3", {}, "Suppressed rows, greatest loss"),
    h("div", { class: "fields" },
      percent("suppress", "May be suppressed", "Share of rows that may be missing in the release, so that the others are finer. Not together with t."),
      field("Price of a suppressed row", h("input", { type: "text", inputmode: "decimal", size: 6, id: "limit-price", value: limits.suppression_price ?? "", oninput: (event) => setSection("limits", "suppression_price", number(event.target.value)) }), WORDS.price),
      percent("max_loss", "Greatest loss", "No release is written that loses more detail.")));
}

function personsPanel() {
  const persons = columnsWith("person");
  const options = [["", "chosen by the table"], ["whole", "whole: all rows of a person are in one class"], ["rows", "rows: they may be in several classes"]];
  return h("section", { class: "panel" }, h("h3", {}, "Persons"),
    persons.length
      ? [h("p", {}, `k counts persons: ${persons.join(", ")} ${persons.length === 1 ? "names" : "name"} the person of a row.`),
        field("How the rows of one person count", select(options, store.draft.persons ?? "", (value) => edit((draft) => setIn(draft, "persons", value)), { id: "persons" })),
        check("Publish a random number for each person", store.draft.output?.pseudonyms === true, (value) => setSection("output", "pseudonyms", value || null), "so that the rows of one person stay together", { id: "pseudonyms" })]
      : h("p", { class: "help" }, "Rows are counted. If a person can have several rows, give the column that names the person the role “Person” on screen 1: otherwise a class of five rows may be one person."));
}

// The table now

function drawEffect(place) {
  const { measure } = store;
  const head = h("h3", {}, "The table now, before any search");
  if (!measure) { redraw(place, head, loading("Counting …")); return; }
  if (measure.error) { redraw(place, head, errorBox(measure.error)); return; }
  if (!measure.quasi.length) { redraw(place, head, mark("note", measure.why ?? "No column is a quasi-identifier yet: choose them on screen 1.")); return; }
  const unit = measure.unit === "persons" ? "person" : "row";
  const below = unit === "row" ? `${count(measure.below_k)} of ${rows(measure.rows)} are below k = ${count(measure.k)}` : `${rows(measure.below_k, unit)} in classes below k = ${count(measure.k)}`;
  const near = document.getElementById("k-effect");
  if (near) near.textContent = `${measure.feasible === false ? "not possible; " : ""}${below} now`;
  redraw(place, head,
    h("div", { role: "status", class: store.measuring ? "old" : "" },
      h("p", { class: "big" }, below),
      h("p", { class: "sub" }, `${rows(measure.classes, "class")}, the smallest of ${rows(measure.smallest, unit)}; ${share(measure.unique / measure.rows)} of rows are unique. The search makes the classes larger.`),
      (measure.rules ?? []).map((rule) => mark(rule.holds ? "good" : "warn", `${rule.rule}: ${rule.holds ? "satisfied already" : `${rows(rule.rows)} in classes that do not satisfy it yet`}`)),
      measure.feasible === false ? mark("bad", h("strong", {}, "No release can satisfy these rules. "), measure.why ?? "") : measure.feasible ? mark("good", "A release that satisfies these rules exists.") : null),
    warnings(measure.warnings));
}

// Find a person

function findPanel(scope) {
  const names = columnsWith("quasi");
  const answer = h("p", { class: "answer", role: "status" }, "Fill in what somebody may know.");
  const values = {};
  let asked = null;
  const ask = debounce(250, async () => {
    asked?.abort();
    asked = new AbortController();
    const given = Object.fromEntries(Object.entries(values).filter(([, text]) => text.trim() !== ""));
    if (!Object.keys(given).length) { redraw(answer, "Fill in what somebody may know."); return; }
    try {
      const { rows: n } = await post("/api/find", { values: given }, { signal: asked.signal });
      redraw(answer, h("strong", {}, `${rows(n)} ${n === 1 ? "matches" : "match"}`), n === 1 ? ": whoever knows this finds the row." : n === 0 ? ": nobody in the table is like that." : n < (store.draft.k ?? 0) ? `: less than k = ${count(store.draft.k)}.` : ".");
    } catch (error) { if (!isAbort(error)) redraw(answer, error.message); }
  });
  scope.end(() => { ask.cancel(); asked?.abort(); });
  return h("section", { class: "panel" }, h("h3", {}, "Find a person"),
    h("p", { class: "help" }, "Try it with yourself: what would an acquaintance know? The beginning of a value is enough (zip 537)."),
    h("div", { class: "fields find" }, names.slice(0, 20).map((name) => field(name, h("input", { type: "text", autocomplete: "off", size: 10, id: `find-${name}`, oninput: (event) => { values[name] = event.target.value; ask(); } })))),
    answer);
}
