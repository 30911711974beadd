// The key, asked for once and kept until the tab is closed.

import { key, onKeyNeeded } from "./api.js";
import { element } from "./dom.js";

let asking = null;

function ask(wrong) {
  asking ??= shown(wrong).finally(() => { asking = null; });
  return asking;
}

function shown(wrong) {
  return new Promise((resolve) => {
    const field = element("input", { type: "password", id: "key", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "key-help" });
    const dialog = element("dialog", { class: "dialog", "aria-labelledby": "key-title" },
      element("form", { method: "dialog", onsubmit: () => { key.set(field.value.trim()); resolve(); } },
        element("h2", { id: "key-title" }, "This server asks for a key"),
        wrong ? element("p", { class: "problem", role: "alert" }, "That key is not known here, or has expired.") : null,
        element("label", { for: "key" }, "Key"), field,
        element("p", { id: "key-help", class: "hint" }, "It stays in this tab until you close it. A server on this machine prints an address that holds one when it starts; whoever runs the server makes others with ",
          element("code", {}, "thresher keys add"), "."),
        element("div", { class: "row end" }, element("button", { class: "primary" }, "Go on"))));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
}

onKeyNeeded(ask);
