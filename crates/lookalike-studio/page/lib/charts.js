// Small pictures in SVG. Each has a name for screen readers; shapes differ, not only colours.

import { h, s } from "./dom.js";
import { count, share, tick } from "./format.js";

const picture = (width, height, label, kind, ...children) =>
  s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: `chart ${kind}`, preserveAspectRatio: "xMidYMid meet" }, ...children);

/** Before (outline) and after (filled) of one column, as narrow bars. */
export function beforeAfter(before, after, label, height = 44, width = 220) {
  const top = Math.max(1e-9, ...before.map((bar) => bar.rows), ...after.map((bar) => bar.rows));
  const step = width / Math.max(1, before.length);
  const bars = before.map((bar, at) => {
    const tall = bar.rows / top * (height - 2);
    const then = (after[at]?.rows ?? 0) / top * (height - 2);
    const x = at * step;
    return [
      s("rect", { class: "after", x: x + step * 0.22, y: height - then, width: Math.max(1, step * 0.56), height: then }),
      s("rect", { class: "before", x: x + step * 0.08, y: height - tall, width: Math.max(1.5, step * 0.84), height: tall },
        s("title", {}, `${bar.label}: ${count(bar.rows)} before, ${count(after[at]?.rows)} after`)),
    ];
  });
  return picture(width, height, label, "spark", ...bars.flat());
}

/** Horizontal bars with text: class sizes, rows per label. `lines` are { label, value, text }. */
export function barList(lines, label) {
  const top = Math.max(1e-9, ...lines.map((line) => line.value));
  return h("ul", { class: "bar-list", "aria-label": label, tabIndex: lines.length > 10 ? 0 : null }, lines.map((line) => {
    const fill = h("span", { class: "fill" });
    fill.style.setProperty("width", `${Math.max(0.5, line.value / top * 100)}%`);
    return h("li", {}, h("span", { class: "bar-name", title: line.label }, line.label), h("span", { class: "track", "aria-hidden": "true" }, fill), h("span", { class: "bar-text" }, line.text));
  }));
}

const MARGIN = { left: 54, right: 16, top: 14, bottom: 34 };

function ticks(low, high) {
  const raw = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((unit) => unit * power).find((unit) => unit >= raw);
  const list = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) list.push(at);
  return { list, step };
}

function frame(width, height, high, low, yName, xName) {
  const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const y = (value) => inner.bottom - (value - low) / (high - low || 1) * (inner.bottom - inner.top);
  const { list, step } = ticks(low, high);
  const lines = list.map((value) => [
    s("line", { class: "grid", x1: inner.left, x2: inner.right, y1: y(value), y2: y(value) }),
    s("text", { class: "tick", x: inner.left - 6, y: y(value) + 4, "text-anchor": "end" }, tick(value, step)),
  ]);
  const names = [
    s("text", { class: "axis", x: inner.left, y: 10 }, yName),
    s("text", { class: "axis", x: inner.right, y: height - 4, "text-anchor": "end" }, xName),
  ];
  return { inner, y, parts: [...lines.flat(), ...names] };
}

/** Loss and bound while the search runs; x is the share of the time. */
export function progressChart(progress) {
  const width = 560;
  const height = 210;
  const points = progress.filter((step) => typeof step.loss === "number").map((step, at) => ({ ...step, x: step.share ?? at / Math.max(1, progress.length - 1) }));
  const losses = points.map((point) => point.loss);
  const bounds = points.map((point) => point.bound).filter((bound) => typeof bound === "number");
  const all = [...losses, ...bounds];
  const high = all.length ? Math.max(...all) * 1.05 : 1;
  const low = all.length ? Math.max(0, Math.min(...all) * 0.9) : 0;
  const { inner, y, parts } = frame(width, height, high, low, "loss", "time →");
  const x = (value) => inner.left + value * (inner.right - inner.left);
  const path = (key) => points.filter((point) => typeof point[key] === "number").map((point, at) => `${at ? "L" : "M"}${x(point.x).toFixed(1)} ${y(point[key]).toFixed(1)}`).join("");
  const last = points.at(-1);
  const label = last ? `Loss ${share(last.loss)}${typeof last.bound === "number" ? `, lower bound ${share(last.bound)}` : ""}` : "No figures yet";
  return picture(width, height, label, "lines", ...parts,
    s("path", { class: "line loss", d: path("loss") }),
    s("path", { class: "line bound", d: path("bound") }),
    last ? s("circle", { class: "dot", cx: x(last.x), cy: y(last.loss), r: 4 }) : null);
}

/** Points of the frontier as buttons: k on the x axis (logarithmic), a share on the y axis. */
export function frontierChart(points, key, options) {
  const width = 340;
  const height = 210;
  const shown = points.filter((point) => !point.error && typeof point[key] === "number");
  if (!shown.length) return null;
  const high = Math.max(...shown.map((point) => point[key])) * 1.18 || 1;
  const { inner, y, parts } = frame(width, height, high, 0, options.name, "k →");
  const ks = shown.map((point) => point.k);
  const span = Math.log(Math.max(...ks)) - Math.log(Math.min(...ks)) || 1;
  const x = (k) => inner.left + 26 + (Math.log(k) - Math.log(Math.min(...ks))) / span * (inner.right - inner.left - 46);
  const path = shown.map((point, at) => `${at ? "L" : "M"}${x(point.k).toFixed(1)} ${y(point[key]).toFixed(1)}`).join("");
  const marks = shown.map((point) => s("text", { class: "tick", x: x(point.k), y: inner.bottom + 15, "text-anchor": "middle" }, String(point.k)));
  const knobs = shown.map((point) => knob(point, x(point.k), y(point[key]), key, options));
  return s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": options.label, class: "chart lines" }, ...parts, ...marks, s("path", { class: `line ${key}`, d: path }), ...knobs);
}

function knob(point, x, y, key, options) {
  const choose = () => options.choose(point.k);
  const keys = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose();
  };
  const shape = key === "loss" ? s("circle", { cx: x, cy: y, r: 6 }) : s("rect", { x: x - 5.5, y: y - 5.5, width: 11, height: 11 });
  // The name of a button begins with its visible text.
  const shown = `${options.names?.[point.k] ? `${options.names[point.k]} ` : ""}${share(point[key])}`;
  return s("g", { id: `point-${key}-${point.k}`, class: `knob ${options.chosen === point.k ? "chosen" : ""}`, role: "button", tabindex: 0, "aria-pressed": options.chosen === point.k, "aria-label": `${shown}: ${options.name} of k = ${point.k}${options.names?.[point.k] ? `, pinned as ${options.names[point.k]}` : ""}`, onclick: choose, onkeydown: keys },
    s("circle", { class: "target", cx: x, cy: y, r: 16 }), shape,
    s("text", { class: "knob-name", x, y: y - 11, "text-anchor": "middle" }, shown));
}
