// What a person says of an answer is kept beside its trace, for `calibrate`, `train-judge` and `ci record`;
// what is expected goes to the file that `thresher ci` reads.

import { call } from "./api.js";
import { element, iconButton } from "./dom.js";
import { inCollection, may, state } from "./state.js";
import { shortened } from "./words.js";

/** Two thumbs; after the one down a field for what would have been right. `before` is what was said earlier. */
export function feedbackForm(answer, before = null) {
  const status = element("span", { class: "hint", role: "status" });
  const more = element("div", { class: "correction" });
  const send = async (right, text) => {
    try {
      await call("POST", inCollection("traces", answer.trace, "feedback"), { body: text ? { right, answer: text } : { right } });
    } catch (error) {
      status.textContent = `Not kept: ${error.message}`;
      return;
    }
    press(right);
    status.textContent = text ? "Thank you, kept with the right answer." : right && !expects() ? "Kept; `thresher ci record` expects this answer from now on." : "Kept.";
    more.replaceChildren(...(right || text ? [] : [correction(send)]));
  };
  const expect = async () => {
    try {
      const { question, written, source, quote } = await call("POST", inCollection("traces", answer.trace, "expectation"));
      const expected = quote ? `“${shortened(quote, 160)}” (${source})` : "a refusal";
      status.textContent = written ? `Expected from now on: ${expected}.` : `Expected before, nothing is written: ${question}`;
      press(true);
      more.replaceChildren();
    } catch (error) {
      status.textContent = `Not written: ${error.message}`;
    }
  };
  const up = iconButton("up", "This is right", () => send(true));
  const down = iconButton("down", "This is wrong", () => send(false));
  const press = (right) => {
    up.setAttribute("aria-pressed", String(right === true));
    down.setAttribute("aria-pressed", String(right === false));
  };
  press(before?.right ?? null);
  const toClipboard = async () => {
    await navigator.clipboard.writeText(answer.text.replaceAll("**", ""));
    status.textContent = "Copied.";
  };
  const copy = navigator.clipboard ? element("button", { type: "button", class: "quiet", onclick: toClipboard }, "Copy") : null; // none over plain HTTP
  const confirm = expects() ? element("button", { type: "button", class: "quiet", onclick: expect, title: "Right: write it to the expectations of `thresher ci`" }, "Expect this") : null;
  return element("div", { class: "feedback" }, element("div", { class: "row" }, up, down, confirm, copy, status), more);
}

/** Whether a person may add to the file of expectations, and the server was given one. */
export const expects = () => state.session.expects && may("write");

function correction(send) {
  const field = element("input", { type: "text", maxlength: "2000" });
  const keep = (event) => {
    event.preventDefault();
    if (field.value.trim()) send(false, field.value.trim());
  };
  return element("form", { class: "row", onsubmit: keep }, element("label", {}, "What would have been right?", field), element("button", {}, "Keep"));
}
