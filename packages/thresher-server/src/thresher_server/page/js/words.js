// Numbers, times and judgements as people read them.

import { flat } from "./tables.js";

const EVIDENCE = { correct: "sufficient", ambiguous: "in doubt", unsure: "in doubt", incorrect: "insufficient" };

/** What a verdict says of the evidence. */
export const evidenceWord = (verdict) => EVIDENCE[verdict] ?? "not decided";

/** How sure an answer is, else what the evidence is worth; empty where nothing was judged. */
export function assessment({ verdict, certainty, state }) {
  if (certainty === null || certainty === undefined || state === "refused") return verdict ? `Evidence: ${evidenceWord(verdict)}` : "";
  const many = certainty >= 0.95 ? "19 of 20" : `${Math.max(1, Math.round(10 * certainty))} of 10`;
  if (state === "doubtful") return `Answer: in doubt, ${many} such answers are right`;
  return `Answer: ${certainty >= 0.9 ? "very probably" : "probably"} right, as ${many} such answers are`;
}

export const number = (value) => Number(value).toLocaleString("en-GB");

/** "1 document", "12 documents". */
export const counted = (count, name) => `${number(count)} ${name}${count === 1 ? "" : "s"}`;

/** "40 ms", "1.2 s", "3 min". */
export function seconds(value) {
  if (value < 0.001) return "< 1 ms";
  if (value < 0.0995) return `${Math.max(1, Math.round(value * 1000))} ms`;
  if (value < 90) return `${value.toFixed(value < 9.95 ? 1 : 0)} s`;
  return `${Math.round(value / 60)} min`;
}

const KILO = 1024; // as file managers count

/** "3.1 MB". */
export function bytes(value) {
  if (value < KILO) return `${value} B`;
  if (value < KILO ** 2) return `${Math.round(value / KILO)} kB`;
  return `${(value / KILO ** 2).toFixed(value < 10 * KILO ** 2 ? 1 : 0)} MB`;
}

/** "today, 14:05", "3 March 2026". */
export function day(iso) {
  const when = new Date(iso);
  if (Number.isNaN(when.getTime())) return iso ?? "";
  const time = when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (when.toDateString() === new Date().toDateString()) return `today, ${time}`;
  return when.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
}

/** The last part of a path or an address. */
export function fileName(source) {
  const plain = source.replace(/[?#].*$/, "").replace(/\/+$/, "");
  return plain.slice(plain.lastIndexOf("/") + 1) || source;
}

/** Title of a document, or the name of its file. */
export const titleOf = ({ title, source }) => title || fileName(source);

/** Where in a file something stands, in words. */
export const placeOf = ({ locator, page }) => locator || (page ? `page ${page}` : "");

/** What became of a cited file since it was indexed, in words. */
export const staleOf = ({ stale }) => ({ changed: "changed since it was indexed", gone: "no longer there" })[stale] ?? "";

/** One line of at most so many characters. */
export function shortened(text, most) {
  const line = flat(text);
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

/** Place in a JavaScript text of an offset in code points, as the engine counts them. */
export function unitsOf(text, codePoints) {
  let at = 0;
  for (let passed = 0; passed < codePoints && at < text.length; passed += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}
