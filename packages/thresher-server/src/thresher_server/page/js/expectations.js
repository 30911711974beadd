// What the last run of `thresher ci` found: the expected answers that a change broke, and what else it did.

import { call } from "./api.js";
import { askAgain } from "./ask.js";
import { element, icon } from "./dom.js";
import { expects } from "./feedback.js";
import { counted, day, number, seconds } from "./words.js";

const LISTS = [["broken", "Broken"], ["contradicted", "Contradicted"], ["newly_answered", "Newly answered"], ["moved", "Moved"]];
const FAILING = ["broken", "contradicted"];

/** Show the last run of this home. */
export async function expectationsView(main) {
  const body = element("div", {}, element("p", { class: "loading", role: "status" }, "Looking for the last run…"));
  main.replaceChildren(element("div", { class: "view" }, element("h1", {}, "Expectations"),
    element("p", { class: "lead" }, "Which expected answers does a change break? ", expects() ? "An answer becomes an expectation with “Expect this”; " : ["An answer that you mark as right becomes an expectation with ", element("code", {}, "thresher ci record"), "; "], element("code", {}, "thresher ci"), " asks them all."), body));
  const expected = expects() ? (await call("GET", ["api", "expectations"]).catch(() => null))?.expectations : null; // null: not for this key
  const run = await call("GET", ["api", "expectations", "last"]).catch((error) => {
    if (error.status === 404) return null;
    throw error;
  });
  body.replaceChildren(...(run ? shown(run) : [element("p", { class: "empty" }, "No run yet, or none that you may see.")]), ...(expected ? [written(expected)] : []));
}

/** The file that “Expect this” writes to. */
function written(expected) {
  return element("section", { class: "gap", "aria-labelledby": "written" },
    element("header", {}, element("h2", { id: "written" }, "What is expected"), element("span", { class: "hint" }, counted(expected.length, "question"))),
    element("ul", { class: "gap-questions" }, expected.map((one) => element("li", {},
      element("p", {}, element("b", {}, one.question), one.asked_by ? element("span", { class: "hint" }, ` asked by ${one.asked_by}`) : null),
      element("p", { class: "source-place" }, one.text ? [`“${one.text}”`, one.source].filter(Boolean).join(" ") : "a refusal")))));
}

function shown(run) {
  const lists = LISTS.filter(([kind]) => run[kind].length);
  return [
    element("div", { class: run.passed ? "notice" : "problem", role: run.passed ? "status" : "alert" },
      element("p", {}, element("b", {}, run.passed ? "No answer broke." : "Answers broke."), ` ${LISTS.map(([kind, name]) => `${number(run[kind].length)} ${name.toLowerCase()}`).join(", ")}, ${number(run.unchanged)} unchanged.`),
      element("p", { class: "next" }, [day(run.finished), run.file, run.against ? `compared with ${run.against}` : "the expectations alone", `${counted(run.answered_again, "question")} answered again`, seconds(run.seconds)].join(" · "))),
    ...lists.map(([kind, name]) => element("section", { class: "gap", "aria-labelledby": kind },
      element("header", {}, element("h2", { id: kind }, name), element("span", { class: "hint" }, counted(run[kind].length, "question"))),
      element("ul", { class: "gap-questions" }, run[kind].map((one) => difference(one, FAILING.includes(kind)))))),
  ];
}

function difference(one, failing) {
  return element("li", {},
    element("p", {}, element("b", {}, one.question), one.asked_by ? element("span", { class: "hint" }, ` asked by ${one.asked_by}`) : null),
    one.why ? element("p", { class: failing ? "why" : "hint" }, one.why) : null,
    [["Old", one.old], ["New", one.new]].map(([name, place]) => (place ? element("p", { class: "source-place" }, `${name}: “${place.sentence.trim()}” `, [place.source, place.where].filter(Boolean).join(", ")) : null)),
    element("div", { class: "row" }, element("button", { type: "button", class: "quiet", onclick: () => askAgain(one.question), "aria-label": `Ask again: ${one.question}` }, icon("again"), "Ask again")));
}
