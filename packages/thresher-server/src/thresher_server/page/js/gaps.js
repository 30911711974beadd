// What was asked and not answered, or answered wrongly: alike questions together, with the documents nearest to them.

import { call } from "./api.js";
import { askAgain } from "./ask.js";
import { element, icon } from "./dom.js";
import { linked } from "./places.js";
import { openPlace } from "./panel.js";
import { inCollection, may } from "./state.js";
import { counted, day, titleOf } from "./words.js";

/** Show the gaps of the chosen collection. */
export async function gapsView(main) {
  const body = element("div", {}, element("p", { class: "loading", role: "status" }, "Looking for gaps…"));
  main.replaceChildren(element("div", { class: "view" }, element("h1", {}, "Gaps"),
    element("p", { class: "lead" }, "Questions that were refused, or whose answer somebody marked as wrong. What is alike stands together; beside it, what the collection has that comes nearest."), body));
  const { gaps } = await call("GET", inCollection("gaps"));
  body.replaceChildren(...(gaps.length ? gaps.map(card) : [element("p", { class: "empty" }, "No gaps: every question so far was answered, and no answer was marked as wrong.")]));
}

function card(gap, at) {
  const id = `gap-${at}`;
  return element("section", { class: "gap", "aria-labelledby": id },
    element("header", {}, element("h2", { id }, capital(gap.terms.join(", ")) || "One of a kind"), element("span", { class: "hint" }, counted(gap.questions.length, "question"))),
    element("div", { class: "gap-sides" },
      element("ul", { class: "gap-questions" }, gap.questions.map((one) => element("li", {},
        element("a", { href: `#/past/${one.trace}` }, one.question),
        one.standalone ? element("p", { class: "hint" }, "Understood as ", element("q", {}, one.standalone)) : null,
        element("div", { class: "row" }, element("span", { class: "hint" }, `${one.reason} · ${day(one.asked)}`),
          element("button", { type: "button", class: "quiet", onclick: () => askAgain(one.standalone ?? one.question), "aria-label": `Ask again: ${one.question}` }, icon("again"), "Ask again"))))),
      element("div", { class: "gap-nearest" }, element("h3", {}, "Nearest documents"), gap.nearest.length ? element("ol", {}, gap.nearest.map(near)) : element("p", { class: "hint" }, "Nothing came near."))),
    may("write") ? element("p", { class: "row" }, element("a", { class: "button", href: "#/documents" }, "Add documents on this")) : null);
}

function near(one) {
  const bar = element("span", { class: "bar-track", "aria-hidden": "true" }, element("span", { class: "bar-fill" }));
  bar.firstChild.style.setProperty("width", `${Math.round(100 * Math.max(0, Math.min(1, one.score)))}%`);
  const opens = linked(one.url) || one.source;
  return element("li", {}, bar, element("span", { class: "number" }, one.score.toFixed(2)),
    opens ? element("button", { type: "button", class: "link", onclick: (event) => openPlace({ ...one, origin: "inside", start: 0, end: 0 }, event.currentTarget) }, titleOf(one)) : titleOf(one));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
