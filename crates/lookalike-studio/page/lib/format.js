// Numbers, shares, times and sizes as the reader's locale writes them.

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const one = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const two = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const three = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const percents = [0, 1, 2].map((digits) => new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: digits }));
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

const none = (value) => value === null || value === undefined || Number.isNaN(value);

/** 2,000 */
export const count = (value) => none(value) ? "–" : whole.format(value);
/** At most one decimal. */
export const decimal = (value) => none(value) ? "–" : one.format(value);
/** 1.11 */
export const ratio = (value) => none(value) ? "–" : two.format(value);
/** Three significant digits. */
export const figure = (value) => none(value) ? "–" : three.format(value);

/** A share as percent: 41 %, 4.3 %, 0.12 %; what is not 0 is never shown as 0. */
export function share(value) {
  if (none(value)) return "–";
  const size = Math.abs(value);
  if (size > 0 && size < 0.0001) return `< ${percents[2].format(0.0001)}`;
  const digits = size === 0 || size >= 0.1 ? 0 : size >= 0.01 ? 1 : 2;
  // 99.96 % must not become 100 %.
  if (size < 1 && size >= 0.995) return percents[size >= 0.9995 ? 2 : 1].format(Math.min(value, 0.9999));
  return percents[digits].format(value);
}

/** A loss: one decimal from 1 % on, since two releases are compared by it. */
export const lost = (value) => none(value) || Math.abs(value) < 0.1 ? share(value) : percents[1].format(value);

/** A share at a mark of an axis whose marks are `step` apart. */
export function tick(value, step) {
  const digits = [0, 1, 2].find((places) => Number.isInteger(Number((step * 100 * 10 ** places).toFixed(6)))) ?? 2;
  return percents[digits].format(value);
}

/** "1 row", "1,234 rows". */
export const rows = (value, word = "row") => `${count(value)} ${value === 1 ? word : plural(word)}`;
const plural = (word) => word.endsWith("s") ? `${word}es` : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;

/** 12:04 of an ISO time. */
export const time = (iso) => iso ? clock.format(new Date(iso)) : "";

/** Seconds: 0.4 s, 12 s, 3 min. */
export function seconds(value) {
  if (none(value)) return "–";
  if (value < 10) return `${decimal(value)} s`;
  return value < 100 ? `${count(value)} s` : `${decimal(value / 60)} min`;
}

/** Bytes: 12 kB. */
export function size(bytes) {
  if (none(bytes)) return "";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (bytes >= 1000 && step < units.length - 1) { bytes /= 1000; step += 1; }
  return `${bytes < 10 && step > 0 ? decimal(bytes) : count(bytes)} ${units[step]}`;
}

/** A number as people type it ("1,5", "1.5", " 20 "), or null. */
export function number(text) {
  const plain = String(text).trim().replace(/[\s\u00a0\u202f%]/g, "");
  if (plain === "") return null;
  const value = Number(plain.includes(".") ? plain.replace(/,/g, "") : plain.replace(",", "."));
  return Number.isFinite(value) ? value : null;
}

const isComma = one.format(1.5).includes(",");
/** What stands between the numbers of a list: a comma can be part of a number in some locales. */
export const between = isComma ? "; " : ", ";

/** The numbers of a list as people type it: with ; between, or with commas. Where decimals have a comma,
    one between two digits is part of a number. */
export function numbersOf(text) {
  const signs = text.includes(";") ? /;/ : isComma ? /,?\s+|,$/ : /[\s,]+/;
  return text.split(signs).filter((part) => part.trim() !== "").flatMap((part) => number(part) ?? part.split(",").map(number)).filter((value) => value !== null);
}

/** A share of the configuration (0.01, "1%", "1/100") as a number, or null. */
function shareOf(value) {
  if (none(value) || value === "") return null;
  if (typeof value === "number") return value;
  const text = String(value).trim();
  if (text.endsWith("%")) return number(text.slice(0, -1)) === null ? null : number(text.slice(0, -1)) / 100;
  const parts = text.split("/");
  return parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : number(text);
}

/** A share for a field in percent: 0.015 is "1.5". */
export const percentText = (value) => {
  const part = shareOf(value);
  return part === null ? "" : String(Number((part * 100).toFixed(6)));
};

/** Seconds of "10s", "2m", "1h", 10; or null. */
export function secondsOf(text) {
  const found = /^\s*([\d.,]+)\s*(ms|s|sec|m|min|h)?\s*$/.exec(String(text ?? ""));
  if (!found) return null;
  const unit = { ms: 0.001, s: 1, sec: 1, m: 60, min: 60, h: 3600 }[found[2] ?? "s"];
  return number(found[1]) === null ? null : number(found[1]) * unit;
}
