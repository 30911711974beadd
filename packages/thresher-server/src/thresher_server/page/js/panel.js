// The document beside the answer: opened by a citation, closed by Escape, the focus back where it was.

import { element, iconButton } from "./dom.js";
import { isOnWeb, ownAddress, placed } from "./places.js";
import { state } from "./state.js";
import { viewer } from "./viewer.js";

let from = null;

/** Open the place of a citation, a hit or a passage; a page of the web opens as itself. */
export async function openPlace(cited, opener) {
  if (isOnWeb(cited)) {
    window.open(cited.url || cited.source, "_blank", "noopener,noreferrer");
    return;
  }
  from = opener ?? document.activeElement;
  const panel = document.getElementById("panel");
  const close = iconButton("close", "Close the document", closePanel);
  const room = element("div", { class: "viewer-room" }, element("p", { class: "loading", role: "status" }, "Opening the document…"));
  const own = element("span");
  panel.replaceChildren(element("div", { class: "panel-bar" }, own, close), room);
  panel.hidden = false;
  document.body.classList.add("beside");
  close.focus({ preventScroll: true });
  if (panel.clientWidth < window.innerWidth) from.scrollIntoView?.({ block: "center" }); // the rest of the page has become narrower
  try {
    const place = await placed(cited, state.collection);
    if (!place) throw new Error("This document is no longer in the collection.");
    own.replaceWith(element("a", { class: "own-tab", href: ownAddress(place), target: "_blank" }, "Open in a tab"));
    await viewer(room, place);
  } catch (error) {
    room.replaceChildren(element("div", { class: "problem", role: "alert" }, error.message), cited.quote ? element("blockquote", {}, cited.quote) : "");
  }
}

/** Close it, if it is open. */
export function closePanel() {
  const panel = document.getElementById("panel");
  if (panel.hidden) return;
  panel.hidden = true;
  panel.replaceChildren();
  document.body.classList.remove("beside");
  from?.focus?.({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) closePanel();
});
