// The text of a document with a stretch marked, a window of it at a time: books are long.

import { call } from "./api.js";
import { element } from "./dom.js";
import { cellsOf, headerOf, isRow, isRule, tableOf } from "./tables.js";
import { unitsOf } from "./words.js";

const AROUND = 8000; // code points before and after the stretch

/** Show the text around `place`, and more of it where it is asked for. */
export async function textView(body, path, about, place) {
  let from = Math.max(0, (place.start ?? 0) - AROUND);
  let to = Math.min(about.characters, (place.end ?? 0) + AROUND);
  const render = async () => {
    const told = await call("GET", [...path, "text"], { parameters: { start: from, end: to } });
    body.replaceChildren(...[
      from > 0 ? more("Show what stands before", () => { from = Math.max(0, from - 4 * AROUND); return render(); }) : null,
      markedText(told, place),
      to < about.characters ? more("Show what follows", () => { to = Math.min(about.characters, to + 4 * AROUND); return render(); }) : null,
    ].filter(Boolean));
  };
  await render();
  (body.querySelector("mark strong") ?? body.querySelector("mark"))?.scrollIntoView({ block: "center" });
}

/** A text, which begins at `start` of its document, with a place of it marked. */
export function markedText({ text, start }, place) {
  const units = (at) => unitsOf(text, Math.max(0, (at ?? 0) - start));
  return element("div", { class: "document-text" }, blocks(text, units(place.start), units(place.end), (place.mark ?? [0, 0]).map(units)));
}

const more = (label, onclick) => element("button", { type: "button", class: "quiet wide", onclick }, label);

/** Paragraphs, headings and tables as they stand in the text, with the stretch from `begin` to `end` marked, and what is `said` in it bold. */
function blocks(text, begin, end, said) {
  const found = [];
  let last = ""; // the kind of the line before
  for (const { 0: line, index } of text.matchAll(/[^\n]+|\n[ \t]*(?=\n)/g)) {
    const piece = (from, to = line.length) => marked(line.slice(from, to), begin - index - from, end - index - from, said.map((at) => at - index - from));
    const heading = /^#{1,6}\s+(?=\S)/.exec(line);
    const fence = /^\s*(```|~~~)/.test(line);
    let kind = fence || last === "code" ? "code" : !line.trim() ? "" : heading ? "heading" : isRow(line) ? "row" : "prose";
    if (kind === "heading") found.push(element("p", { class: "heading" }, piece(heading[0].length)));
    else if (kind === "row") addRow(line, piece);
    else if (kind === "code" && last !== "code") found.push(element("pre", { class: "scrolled", tabindex: "0" }));
    else if (kind === "code" && fence) kind = "";
    else if (kind === "code") found.at(-1).append(...piece(0), "\n");
    else if (kind && kind === last) found.at(-1).append("\n", ...piece(0));
    else if (kind) found.push(element("p", {}, piece(0)));
    last = kind;
  }
  return found;

  function addRow(line, piece) {
    if (last !== "row") found.push(tableOf([]));
    const table = found.at(-1).firstChild;
    if (!isRule(line)) table.append(element("tr", {}, cellsOf(line).map(({ text: cell, at }) => element("td", {}, piece(at, at + cell.length)))));
    else if (table.lastChild) table.lastChild.replaceWith(headerOf(table.lastChild) ?? "");
  }
}

function marked(block, begin, end, said) {
  const [from, to] = [Math.max(0, begin), Math.min(block.length, end)];
  if (from >= to) return [block];
  return [block.slice(0, from), element("mark", {}, bold(block, from, to, said)), block.slice(to)];
}

function bold(block, from, to, [begin, end]) {
  const [first, last] = [Math.max(from, begin), Math.min(to, end)];
  if (first >= last) return block.slice(from, to);
  return [block.slice(from, first), element("strong", {}, block.slice(first, last)), block.slice(last, to)];
}
