// Elements without innerHTML: everything that a table says goes through text nodes.

const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "indeterminate", "readOnly", "tabIndex", "open", "draggable", "htmlFor"]);

function set(element, name, value) {
  if (value === null || value === undefined || value === false && !PROPERTIES.has(name) && !name.startsWith("aria-")) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (PROPERTIES.has(name)) element[name] = value;
  else if (name === "data") for (const [key, text] of Object.entries(value)) element.dataset[key] = text;
  else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
}

export function append(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** An HTML element: h("p", { class: "note" }, "text", child, [children]). Keys `onclick` etc. are listeners. */
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  append(element, ...children);
  // After the children: the value of a select needs its options.
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  return element;
}

/** An SVG element. */
export function s(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, String(value));
  }
  return append(element, ...children);
}

/** Replaces the content of an element; focus, selection and inner scrolling stay where they were (by id). */
export function redraw(element, ...children) {
  const active = document.activeElement;
  const id = active && element.contains(active) ? active.id : "";
  let range = null;
  try { range = id ? [active.selectionStart, active.selectionEnd] : null; } catch { range = null; }
  const scrolls = [...element.querySelectorAll("[data-scroll]")].map((box) => [box.dataset.scroll, box.scrollLeft, box.scrollTop]);
  const fresh = append(document.createDocumentFragment(), ...children);
  element.replaceChildren(fresh);
  for (const [name, left, top] of scrolls) {
    const box = element.querySelector(`[data-scroll="${CSS.escape(name)}"]`);
    if (box) { box.scrollLeft = left; box.scrollTop = top; }
  }
  const again = id ? document.getElementById(id) : null;
  if (again) {
    again.focus({ preventScroll: true });
    try { if (range && range[0] !== null) again.setSelectionRange(range[0], range[1]); } catch { /* not a text field */ }
  }
  return element;
}

/** Calls `act` once, `wait` milliseconds after the last call. `.cancel()` forgets it. */
export function debounce(wait, act) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

let ids = 0;
/** A fresh id for labels. */
export const fresh = (stem) => `${stem}-${++ids}`;
