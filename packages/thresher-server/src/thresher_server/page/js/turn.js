// One question with what became of it: by one recipe, or by two side by side, of which the first one goes on with the
// conversation and the other one is told what was said in it.

import { call } from "./api.js";
import { element } from "./dom.js";
import { result } from "./result.js";
import { changesOf, inCollection } from "./state.js";

let turns = 0;

/** A turn of the conversation; `asAsked` asks its question apart from what went before. `asked` has question, recipes and options; resolves `done` to the first answer. */
export function turn(asked, { open, suggestions, signal, asAsked }) {
  const id = `question-${(turns += 1)}`;
  const row = element("div", { class: asked.recipes.length > 1 ? "results two" : "results" });
  const standalone = element("p", { class: "standalone" });
  const node = element("article", { class: "turn", "aria-labelledby": id }, element("h2", { id, class: "question", tabindex: "-1" }, asked.question), standalone, row);
  const ask = (recipe, at) => {
    const one = result({ recipe, label: `${recipe}: ${asked.question}`, named: asked.recipes.length > 1, open, suggestions, retry: () => { const again = ask(recipe, at); one.node.replaceWith(again.node); } });
    const before = at === 0 ? asked.conversation : asked.history;
    one.done = one.run({ question: asked.question, ...asked.options, ...before, settings: { ...changesOf(recipe), ...asked.options.settings } }, signal);
    return one;
  };
  const results = asked.recipes.map(ask);
  row.append(...results.map((one) => one.node));
  const done = results[0].done.then((answer) => {
    if (answer?.standalone) {
      standalone.append("Understood as ", element("q", {}, answer.standalone), " ", element("button", { type: "button", class: "link", onclick: asAsked }, "Ask it as written"));
    }
    return answer;
  });
  return { node, done, all: Promise.all(results.map((one) => one.done)) };
}

/** A question of the past, as it was answered then. */
export async function pastTurn(trace, { open, suggestions }) {
  const explained = await call("GET", inCollection("traces", trace));
  const one = result({ recipe: explained.recipe, label: explained.question, named: false, open, suggestions, retry: () => {} });
  one.show(explained, explained);
  const standalone = explained.standalone ? element("p", { class: "standalone" }, "Understood as ", element("q", {}, explained.standalone)) : null;
  return element("article", { class: "turn", "data-again": explained.standalone ?? explained.question }, element("h2", { class: "question", tabindex: "-1" }, explained.question), standalone, element("div", { class: "results" }, one.node));
}
