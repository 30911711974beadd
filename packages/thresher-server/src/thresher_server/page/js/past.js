// What was asked before, newest first, and what people said of the answers.

import { call } from "./api.js";
import { element, icon } from "./dom.js";
import { inCollection } from "./state.js";
import { assessment, day, shortened } from "./words.js";

const AT_ONCE = 40; // rows that are fetched

/** Show the questions of the past. */
export async function pastView(main) {
  const list = element("ul", { class: "past" });
  const status = element("p", { class: "hint", role: "status" }, "Looking them up…");
  const words = element("input", { type: "search", placeholder: "Search what was asked", "aria-label": "Search past questions" });
  const more = element("button", { type: "button", class: "quiet wide", hidden: true, onclick: () => fetchMore() }, "Show older ones");
  const rows = [];
  const fetchMore = async () => {
    const { traces } = await call("GET", inCollection("traces"), { parameters: { limit: AT_ONCE, before: rows.at(-1)?.asked } });
    rows.push(...traces);
    more.hidden = traces.length < AT_ONCE;
    show();
  };
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = rows.filter((one) => wanted.every((word) => `${one.question} ${one.text}`.toLowerCase().includes(word)));
    list.replaceChildren(...fitting.map(row));
    status.textContent = rows.length ? (fitting.length ? "" : "None of them has these words.") : "Nothing was asked yet. What you ask is kept here, with everything the answer rests on.";
  };
  words.addEventListener("input", show);
  main.replaceChildren(element("div", { class: "view" }, element("h1", {}, "Past questions"),
    element("search", { class: "row filters" }, element("div", { class: "with-icon" }, icon("search"), words)), status, list, more));
  await fetchMore();
}

function row(one) {
  const mark = one.state === "answered" ? one.verdict ?? "undecided" : one.state;
  const said = one.feedback ? (one.feedback.right ? "right, you said" : "wrong, you said") : null;
  const facts = [{ refused: "Not answered", doubtful: "In doubt" }[one.state] ?? assessment(one), one.recipe, day(one.asked), said];
  return element("li", { class: mark },
    element("a", { href: `#/past/${one.trace}` }, one.question),
    element("p", {}, shortened(one.text.replaceAll("**", ""), 180)),
    element("p", { class: "hint" }, facts.filter(Boolean).join(" · ")));
}
