// The key, asked for once and kept as long as the person says.

import { key, onKeyNeeded, signIn } from "./api.js";
import { element } from "./dom.js";

const PERIODS = [["", "until this tab is closed"], ["1", "for a day"], ["30", "for 30 days"], ["365", "for a year"]]; // days

let asking = null;

function ask(wrong) {
  asking ??= shown(wrong).finally(() => { asking = null; });
  return asking;
}

function shown(wrong) {
  return new Promise((resolve) => {
    const field = element("input", { type: "password", id: "key", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "key-help" });
    const period = element("select", { id: "period" }, PERIODS.map(([value, label]) => element("option", { value }, label)));
    const enter = async () => {
      const given = field.value.trim();
      if (!period.value || !await signIn(given, Number(period.value))) key.set(given); // what is wrong is asked for again
      resolve();
    };
    const dialog = element("dialog", { class: "dialog", "aria-labelledby": "key-title" },
      element("form", { method: "dialog", onsubmit: enter },
        element("h2", { id: "key-title" }, "This server asks for a key"),
        wrong ? element("p", { class: "problem", role: "alert" }, "That key is not known here, or has expired.") : null,
        element("label", { for: "key" }, "Key"), field,
        element("label", { for: "period" }, "Stay signed in"), period,
        element("p", { id: "key-help", class: "hint" }, "Settings has “Sign out”. A server on this machine prints an address that holds one when it starts; whoever runs the server makes others with ",
          element("code", {}, "thresher keys add"), "."),
        element("div", { class: "row end" }, element("button", { class: "primary" }, "Sign in"))));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
}

onKeyNeeded(ask);
