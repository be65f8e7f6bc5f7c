// Calls to the server: the token goes along in a header, errors have a code and a sentence, and
// server-sent events are read by fetch because EventSource cannot send a header.

let token = null;
const watchers = { lost: () => {}, found: () => {}, denied: () => {} };
let isLost = false;

export const setToken = (value) => { token = value; };
/** Says what happens when the connection is lost or found again, or the token is of an earlier start. */
export const watch = (given) => Object.assign(watchers, given);

/** An answer that is an error: `code`, a sentence, and perhaps the column. */
export class ApiError extends Error {
  constructor(status, body) {
    const error = body?.error ?? {};
    super(error.message || `The server answered ${status}.`);
    this.status = status;
    this.code = error.code ?? `status-${status}`;
    this.column = error.column ?? null;
    this.row = error.row ?? null;
  }
}

/** No answer at all: the server is gone. */
class LostError extends Error {
  constructor() {
    super("The server does not answer. It may have been ended: look at the window where `lookalike studio` was started.");
    this.code = "lost";
  }
}

export const isAbort = (error) => error?.name === "AbortError";

function lost() {
  if (!isLost) { isLost = true; watchers.lost(); }
  return new LostError();
}

function found() {
  if (isLost) { isLost = false; watchers.found(); }
}

async function send(method, path, body, options = {}) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const text = body === undefined ? undefined : JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: text, cache: "no-store", credentials: "omit", ...options });
  } catch (error) {
    throw isAbort(error) ? error : lost();
  }
  found();
  if (answer.status === 401) watchers.denied();
  return answer;
}

async function failure(answer) {
  let body = null;
  try { body = await answer.json(); } catch { body = null; }
  return new ApiError(answer.status, body);
}

async function json(method, path, body, options) {
  const answer = await send(method, path, body, options);
  if (!answer.ok) throw await failure(answer);
  const text = await answer.text();
  return text ? JSON.parse(text) : {};
}

export const get = (path, options) => json("GET", path, undefined, options);
export const post = (path, body = {}, options) => json("POST", path, body, options);
export const put = (path, body, options) => json("PUT", path, body, options);
export const remove = (path) => json("DELETE", path);

/** A path below /api with its query; parameters that are empty are left away. */
export function address(parts, query = {}) {
  const path = `/api/${parts.map(encodeURIComponent).join("/")}`;
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

function pass(block, tell) {
  let event = "message";
  const data = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (data.length) tell(event, JSON.parse(data.join("\n")));
}

/** Reads a stream of events until it ends; `tell(event, data)` is called for each. */
export async function events(path, tell, signal) {
  const answer = await send("GET", path, undefined, { signal, headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream" } });
  if (!answer.ok) throw await failure(answer);
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    let piece;
    try { piece = await reader.read(); } catch (error) { throw isAbort(error) ? error : lost(); }
    if (piece.done) return;
    rest += decoder.decode(piece.value, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) pass(block, tell);
  }
}
