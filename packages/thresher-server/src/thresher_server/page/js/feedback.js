// What a person says of an answer is kept beside its trace, for `calibrate`, `train-judge` and `ci record`.

import { call } from "./api.js";
import { element, iconButton } from "./dom.js";
import { inCollection } from "./state.js";

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
    status.textContent = text ? "Thank you, kept with the right answer." : right ? "Kept; `thresher ci record` expects this answer from now on." : "Kept.";
    more.replaceChildren(...(right || text ? [] : [correction(send)]));
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
  return element("div", { class: "feedback" }, element("div", { class: "row" }, up, down, copy, status), more);
}

function correction(send) {
  const field = element("input", { type: "text", maxlength: "2000" });
  const keep = (event) => {
    event.preventDefault();
    if (field.value.trim()) send(false, field.value.trim());
  };
  return element("form", { class: "row", onsubmit: keep }, element("label", {}, "What would have been right?", field), element("button", {}, "Keep"));
}
