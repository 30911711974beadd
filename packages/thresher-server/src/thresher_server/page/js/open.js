// The viewer in a tab of its own, at the address of a hit or a citation.

import "./key.js";
import { element } from "./dom.js";
import { linked } from "./places.js";
import { applyTheme } from "./state.js";
import { viewer } from "./viewer.js";
import { titleOf } from "./words.js";

applyTheme();
const room = element("div", { class: "viewer-room" }, element("p", { class: "loading", role: "status" }, "Opening the document…"));
document.getElementById("main").replaceChildren(room);
const place = linked(location.href);
try {
  const about = await viewer(room, { ...place, start: place.start ?? 0, end: place.end ?? 0 }, "h1");
  document.title = `${titleOf(about)} · Thresher`;
} catch (error) {
  room.replaceChildren(element("div", { class: "problem", role: "alert" },
    element("h1", {}, "This document cannot be opened."), element("p", {}, error.message), error.next ? element("p", { class: "next" }, error.next) : null));
}
