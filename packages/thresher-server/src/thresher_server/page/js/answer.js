// The text of an answer: its sentences with what the documents say to them, and markers that open what they rest on.

import { element } from "./dom.js";
import { cellsOf, headerOf, isRow, isRule, tableOf } from "./tables.js";
import { counted } from "./words.js";

const SHORT = 48; // characters
const EMPHASIS = /(?<![\w*])\*\*(?=[^\s*])[^*]+(?<=[^\s*])\*\*(?![\w*])/g; // what Markdown shows bold: it is quoted without its signs
const STATE_IN_WORDS = /\s*\((?:unverified|contradicted)\)/g;
const HOLDS = ["quoted", "supported"];
const TAGS = { quoted: "“✓”", supported: "✓", unverified: "unverified", contradicted: "contradicted" };
const SAYS = {
  quoted: "quoted: the documents say it in these words",
  supported: "supported by the documents",
  unverified: "unverified: nothing confirms it",
  contradicted: "contradicted: the documents say otherwise",
};

/** Paragraphs, lists, tables, headings and code of an answer; `cite` is called with a citation. */
export function answerText(answer, cite) {
  const blocks = [];
  let block = null;
  let sentenceNode = null;
  let bold = false;
  let code = false;
  const own = (quote) => quote.replace(EMPHASIS, "").includes("**") || (quote.match(EMPHASIS) ?? []).some((one) => answer.text.includes(one));
  const bolds = !answer.citations.some((one) => own(one.quote)); // what is bold marks places
  const byMarker = new Map(answer.citations.map((one) => [one.marker, one]));

  const begin = (tag) => {
    block = element(tag);
    sentenceNode = null;
    blocks.push(block);
  };
  const put = (node, sentence) => {
    if (!block) begin("p");
    if (!sentence) { block.append(node); return; }
    if (sentenceNode?.dataset.start !== String(sentence.start)) {
      sentenceNode = element("span", { class: `sentence ${sentence.state}`, "data-start": sentence.start });
      block.append(sentenceNode);
    }
    sentenceNode.append(node);
  };
  const inline = (text, sentence) => {
    for (const piece of text.split(/(\*\*|\[\d+\])/)) {
      const marker = /^\[(\d+)\]$/.exec(piece);
      if (piece === "") continue;
      if (piece === "**" && bolds) bold = !bold;
      else if (marker && byMarker.has(Number(marker[1]))) put(citeButton(byMarker.get(Number(marker[1])), cite), sentence);
      else put(bold ? element("strong", {}, piece) : document.createTextNode(piece), sentence);
    }
  };
  const row = (line, sentence) => {
    if (block) blocks.splice(blocks.indexOf(block), 1); // begun for this line
    if (isRule(line)) {
      const header = blocks.at(-1)?.tagName === "TR" ? headerOf(blocks.pop()) : null;
      if (header) blocks.push(header);
      return;
    }
    const node = element("tr", {}, cellsOf(line).map(() => element("td")));
    blocks.push(node);
    cellsOf(line).forEach(({ text }, number) => {
      [block, sentenceNode] = [node.children[number], null];
      inline(text.replaceAll("\\|", "|"), sentence);
    });
  };
  for (const { text, sentence } of segments(answer)) {
    text.split(/(\n+)/).forEach((part) => {
      const fresh = !block?.childNodes.length;
      const line = sentence && /^\|/.test(part) && !isRow(part) ? `${part} |` : part; // its last bar stands behind its markers
      if (fresh && /^\s*(```|~~~)/.test(line)) {
        code = !code;
        if (code) begin("pre");
        else block = null;
      } else if (code) block.append(line);
      else if (/^\n\n/.test(line)) block = null;
      else if (line === "\n") begin("p");
      else if (fresh && isRow(line)) row(line, sentence);
      else if (line) {
        const item = fresh ? /^\s*[-*•] (.*)/s.exec(line) : null;
        const heading = fresh ? /^#{1,6} (.*)/s.exec(line) : null;
        if (item) begin("li");
        if (heading) { begin("p"); block.classList.add("heading"); }
        inline((item ?? heading)?.[1] ?? line, sentence);
      }
    });
    if (sentence) put(stateTag(sentence.state), sentence);
  }
  return grouped(blocks);
}

/** The text in the order it is read, cut where its sentences begin and end. */
function segments(answer) {
  const characters = Array.from(answer.text);
  const shown = answer.answered_by === "model" ? answer.sentences.filter((one) => one.end > one.start) : [];
  const cut = [];
  let at = 0;
  for (const sentence of shown) {
    if (sentence.start > at) cut.push(between(characters, at, sentence.start));
    cut.push({ text: characters.slice(sentence.start, sentence.end).join(""), sentence });
    at = sentence.end;
  }
  if (at < characters.length) cut.push(between(characters, at, characters.length));
  return cut;
}

/** What stands between two sentences: markers; not the last bar of a row, nor the states in words, for which there are marks here. */
const between = (characters, from, to) => ({
  text: characters.slice(from, to).join("").replace(STATE_IN_WORDS, "").replace(/^((?: \[\d+\])*) \|(?=\n|$)/, "$1"),
});

function grouped(blocks) {
  const out = [];
  for (const block of blocks.filter((one) => one.childNodes.length)) {
    const list = out.at(-1);
    if (block.tagName === "LI") list?.tagName === "UL" ? list.append(block) : out.push(element("ul", {}, block));
    else if (block.tagName === "TR") list?.matches(".grid") ? list.firstChild.append(block) : out.push(tableOf([block]));
    else out.push(block);
  }
  return out;
}

const stateTag = (state) => element("span", { class: `state ${state}`, role: "img", "aria-label": SAYS[state], title: SAYS[state] }, TAGS[state]);

function citeButton(citation, cite) {
  const where = citation.title || citation.source;
  return element("button", {
    type: "button", class: `cite ${citation.origin}`, "data-marker": citation.marker,
    "aria-label": `Source ${citation.marker}: ${where}`, onclick: (event) => cite(citation, event.currentTarget),
  }, String(citation.marker));
}

/** Whether an answer is a name, a number, a date: it is shown large. */
export const isShort = (answer) => answer.text.length < SHORT;

/** How the sentences stand, and those that the documents do not show, each with why; null for an answer without. */
export function sentenceReport(answer) {
  const removed = answer.removed ?? [];
  const written = answer.answered_by === "model" ? answer.sentences : []; // of a passage only what it stands in place of
  if (!(written.length + removed.length)) return null;
  const numbers = {};
  for (const one of [...written, ...removed]) numbers[one.state] = (numbers[one.state] ?? 0) + 1;
  const summary = Object.entries(numbers).map(([state, many]) => element("span", { class: `tally ${state}` }, `${many} ${state}`));
  const doubtful = [...written.filter((one) => !HOLDS.includes(one.state)), ...removed];
  const items = doubtful.map((one) => element("li", {},
    element("q", {}, one.text.replace(/\s*\[\d+\]/g, "").trim()),
    element("span", { class: "why" }, `${one.state}${one.end ? "" : ", and taken out of the answer"}${one.reason ? `: ${one.reason}` : ""}`)));
  return element("div", { class: "sentences" },
    element("p", { class: "tallies" }, element("span", { class: "label" }, counted(written.length + removed.length, "sentence"), ":"), summary),
    items.length ? element("ul", {}, items) : null);
}
