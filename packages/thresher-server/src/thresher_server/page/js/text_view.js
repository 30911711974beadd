// The text of a document with a stretch marked, a window of it at a time: books are long.

import { call } from "./api.js";
import { element } from "./dom.js";
import { unitsOf } from "./words.js";

const AROUND = 8000; // code points before and after the stretch

/** Show the text around `place`, and more of it where it is asked for. */
export async function textView(body, path, about, place) {
  let from = Math.max(0, (place.start ?? 0) - AROUND);
  let to = Math.min(about.characters, (place.end ?? 0) + AROUND);
  const render = async () => {
    const told = await call("GET", [...path, "text"], { parameters: { start: from, end: to } });
    const begin = unitsOf(told.text, Math.max(0, (place.start ?? 0) - told.start));
    const end = unitsOf(told.text, Math.max(0, (place.end ?? 0) - told.start));
    body.replaceChildren(...[
      from > 0 ? more("Show what stands before", () => { from = Math.max(0, from - 4 * AROUND); return render(); }) : null,
      element("div", { class: "document-text" }, blocks(told.text, begin, end)),
      to < about.characters ? more("Show what follows", () => { to = Math.min(about.characters, to + 4 * AROUND); return render(); }) : null,
    ].filter(Boolean));
  };
  await render();
  body.querySelector("mark")?.scrollIntoView({ block: "center" });
}

const more = (label, onclick) => element("button", { type: "button", class: "quiet wide", onclick }, label);

/** Paragraphs, headings and tables as they stand in the text, with the stretch from `begin` to `end` marked. */
function blocks(text, begin, end) {
  const found = [];
  for (const match of text.matchAll(/[^\n](?:[^\n]|\n(?!\s*\n))*/g)) {
    const block = match[0];
    const heading = /^(#{1,6}) /.exec(block);
    const skipped = heading ? heading[0].length : 0;
    const pieces = marked(block.slice(skipped), begin - match.index - skipped, end - match.index - skipped);
    if (heading) found.push(element("p", { class: "heading" }, pieces));
    else if (/^\s*\|/.test(block)) found.push(element("pre", { class: "scrolled", tabindex: "0" }, pieces));
    else found.push(element("p", {}, pieces));
  }
  return found;
}

function marked(block, begin, end) {
  const [from, to] = [Math.max(0, begin), Math.min(block.length, end)];
  if (from >= to) return [block];
  return [block.slice(0, from), element("mark", {}, block.slice(from, to)), block.slice(to)];
}
