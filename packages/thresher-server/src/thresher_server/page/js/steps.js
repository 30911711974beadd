// The steps of a question, each as it ends.

import { element } from "./dom.js";
import { counted, evidenceWord, seconds, shortened } from "./words.js";

const SLOTS = ["rewrite", "retrieve", "judge", "decide", "correct", "refine", "generate", "verify"];

const DOING = {
  rewrite: "Reading the question",
  retrieve: "Searching the documents",
  judge: "Judging what was found",
  decide: "Deciding whether it suffices",
  correct: "Looking elsewhere",
  refine: "Keeping the sentences that count",
  generate: "Writing the answer",
  verify: "Holding each sentence against the documents",
};

const ENDED = {
  rewrite: ({ detail }) => (detail.search && detail.search !== detail.question ? `searched for “${detail.search}”` : "searched as asked"),
  retrieve: ({ kept }) => `${counted(kept, "passage")} found`,
  judge: ({ kept, considered }) => `${kept} of ${considered} stay`,
  decide: ({ detail }) => (detail.verdict ? `${evidenceWord(detail.verdict)}: ${detail.reason}` : detail.reason),
  correct: ({ kept, detail }) => (kept ? `${counted(kept, "passage")} from outside` : detail.outcome || "not needed"),
  refine: ({ kept }) => `${counted(kept, "passage")} kept for the answer`,
  generate: ({ detail }) => (detail.abstained ? "refused" : detail.doubtful ? "in doubt" : "answered"),
  verify: ({ detail }) => ("quotes_checked" in detail ? `${counted(detail.quotes_checked, "quote")} checked` : "checked"),
};

/** What is being done after so many steps. */
export const doing = (ended) => DOING[SLOTS[ended.length]] ?? "Finishing";

/** A list that fills as steps end. */
export function stepList() {
  const list = element("ol", { class: "steps" }, SLOTS.map((name) => element("li", { "data-step": name }, element("span", { class: "name" }, name))));
  return {
    node: list,
    /** Show the steps that have ended; `running` marks the next one. */
    update(ended, running) {
      SLOTS.forEach((name, at) => {
        const item = list.children[at];
        const step = ended.find((one) => one.name === name);
        item.className = step ? "ended" : running && at === ended.length ? "current" : "";
        if (step && item.childElementCount === 1) {
          item.append(element("span", { class: "note" }, shortened(ENDED[name](step) ?? "", 110)), element("span", { class: "time" }, seconds(step.seconds)));
        }
      });
    },
  };
}
