// Tables of a text, whose lines are cells between bars.

import { element } from "./dom.js";

const BAR = /(?<!\\)\|/g;

/** Whether a line is a row, or the rule below a header. */
export const isRow = (line) => /^[ \t]*\|.*(?<!\\)\|[ \t]*$/.test(line) && line.match(BAR).length > 1;
export const isRule = (line) => isRow(line) && /^[\s|:+-]*-[\s|:+-]*$/.test(line);

/** The cells of a row: [{text, at}], `at` where it begins in the line. */
export function cellsOf(line) {
  const bars = [...line.matchAll(BAR)].map((bar) => bar.index);
  return bars.slice(1).map((bar, number) => {
    const raw = line.slice(bars[number] + 1, bar);
    return { text: raw.trim(), at: bars[number] + 1 + raw.length - raw.trimStart().length };
  });
}

/** A row as the header of its table; null for one without words. */
export function headerOf(row) {
  if (!row.textContent.trim()) return null;
  return element("tr", {}, [...row.children].map((cell) => element("th", { scope: "col" }, [...cell.childNodes])));
}

/** A text on one line, without the signs of tables, headings and code. */
export const flat = (text) => text.split("\n").filter((line) => !isRule(line) && !/^\s*(```|~~~)/.test(line))
  .map((line) => (isRow(line) ? cellsOf(line).map((cell) => cell.text).filter(Boolean).join(" · ") : line.replace(/^#{1,6}\s+(?=\S)/, "")))
  .join(" ").split(/\s+/).join(" ").trim();

/** Rows as a table that scrolls where it is wider than the page. */
export const tableOf = (rows) => element("div", { class: "scrolled grid", tabindex: "0" }, element("table", {}, rows));
