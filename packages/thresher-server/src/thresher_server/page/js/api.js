// The server's API: one way to ask it, its errors in words, and streams of events.

/** Where the server is, also below a path of a proxy. */
export const BASE = new URL("../../", import.meta.url);

const KEY = "thresher-key";

/** A request that was refused, or never arrived. */
export class Refused extends Error {
  constructor(status, message, next = "") {
    super(message);
    this.status = status;
    this.next = next;
  }
}

/** A key that was typed stays in its tab; the token of the address that the server printed serves every tab. */
export const key = {
  get: () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => { sessionStorage.removeItem(KEY); localStorage.removeItem(KEY); },
};

/** Have this browser remember a key for so many days, in a cookie that no script reads; whether the server took it. */
export async function signIn(given, days) {
  const headers = { Authorization: `Bearer ${given}`, "Content-Type": "application/json" };
  const response = await fetch(address(["api", "session"]), { method: "POST", headers, body: JSON.stringify({ days }) }).catch(() => null);
  return response?.ok ?? false;
}

/** Forget who signed in, here and on the server. */
export async function signOut() {
  await call("DELETE", ["api", "session"]).catch(() => {});
  key.forget();
  location.reload();
}

const printed = /^#token=([\w-]+)$/.exec(location.hash);
if (printed) {
  key.forget();
  localStorage.setItem(KEY, printed[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Who is asked for a key when one is needed; resolves when there is one. */
let askForKey = async () => { throw new Refused(401, "a key is needed"); };
export const onKeyNeeded = (ask) => { askForKey = ask; };

/** Headers of every request. */
export const headers = () => (key.get() ? { Authorization: `Bearer ${key.get()}` } : {});

/** An address below the server; parts are escaped, parameters without a value left out. */
export function address(parts, parameters = {}) {
  const url = new URL(parts.map(encodeURIComponent).join("/"), BASE);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

async function send(url, options) {
  const sent = key.get();
  let response;
  try {
    response = await fetch(url, { ...options, headers: { ...headers(), ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer.", "See whether it still runs, then try again.");
  }
  if (response.status === 401) {
    if (key.get() === sent) {
      key.forget();
      await askForKey(sent !== null);
    }
    return send(url, options);
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** What an error reply says. */
export async function refusal(response) {
  const told = (await response.json().catch(() => null))?.error;
  if (!told) return new Refused(response.status, `The server answered with status ${response.status}.`);
  const what = told.subject ? `${told.subject}: ${told.what}` : told.what || told.message;
  return new Refused(response.status, what, told.next);
}

/** JSON of a path: `call("GET", ["api", "session"])`. */
export async function call(method, parts, { parameters, body, signal } = {}) {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await send(address(parts, parameters), { method, signal, ...json });
  return response.status === 204 ? null : response.json();
}

/** Events of a path as {event, data}, each as it comes. */
export async function* stream(method, parts, { body, signal } = {}) {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await send(address(parts), {
    method, signal, ...json,
    headers: { Accept: "text/event-stream", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    yield { event: "answer", data: await response.json() };
    return;
  }
  yield* eventsOf(response.body.pipeThrough(new TextDecoderStream()).getReader());
}

async function* eventsOf(reader) {
  let held = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      held += value ?? "";
      const blocks = held.split(/\r?\n\r?\n/);
      held = done ? "" : blocks.pop();
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function eventOf(block) {
  let event = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (!data.length) return null; // a comment that keeps the connection open
  return { event, data: JSON.parse(data.join("\n")) };
}

/** Send files; `progress` is told bytes sent and in all. Resolves to the reply. */
export function upload(parts, files, progress) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address(parts));
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => progress(event.loaded, event.total));
    request.addEventListener("error", () => reject(new Refused(0, "The upload was cut off.", "Drop the files again.")));
    request.addEventListener("load", async () => {
      const response = new Response(request.responseText, { status: request.status });
      if (response.ok) resolve(await response.json());
      else reject(await refusal(response));
    });
    request.send(form);
  });
}
