// The page: who asks, which view is shown, and what is told when something fails.

import "./key.js";
import { askView } from "./ask.js";
import { documentsView } from "./documents.js";
import { element } from "./dom.js";
import { expectationsView } from "./expectations.js";
import { gapsView } from "./gaps.js";
import { closePanel } from "./panel.js";
import { pastView } from "./past.js";
import { settingsView } from "./settings.js";
import { applyTheme, keep, load, state } from "./state.js";

const VIEWS = {
  ask: { title: "Ask", show: askView },
  documents: { title: "Documents", show: documentsView },
  past: { title: "Past questions", show: (main, trace) => (trace ? askView(main, trace) : pastView(main)) },
  gaps: { title: "Gaps", show: gapsView },
  expectations: { title: "Expectations", show: expectationsView },
  settings: { title: "Settings", show: settingsView },
};
const main = document.getElementById("main");

async function show() {
  const [, name = "ask", detail] = /^#\/(\w+)(?:\/(\w+))?/.exec(location.hash) ?? [];
  const view = VIEWS[name] ?? VIEWS.ask;
  document.title = `${view.title} · Thresher`;
  for (const tab of document.querySelectorAll(".tabs a")) {
    const current = tab.getAttribute("href") === `#/${name}`;
    if (current) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  closePanel();
  const place = element("div", { class: "place" }); // a view that is still loading when another is shown writes to its own
  main.replaceChildren(place);
  await attempt(() => view.show(place, detail), place);
}

async function attempt(work, place = main) {
  try {
    await work();
  } catch (error) {
    place.replaceChildren(element("div", { class: "view" }, element("div", { class: "problem", role: "alert" },
      element("p", {}, element("b", {}, "This did not work."), " ", error.message), error.next ? element("p", { class: "next" }, error.next) : null,
      element("button", { type: "button", onclick: () => (state.session ? show() : begin()) }, "Try again"))));
  }
}

function collectionPicker() {
  const select = document.getElementById("collection");
  const names = new Set([...state.collections.map((one) => one.name), state.collection]);
  select.replaceChildren(...[...names].map((name) => element("option", { value: name, selected: name === state.collection }, name)));
  select.onchange = () => {
    state.collection = select.value;
    keep();
    show();
  };
}

function begin() {
  return attempt(async () => {
    await load();
    collectionPicker();
    await show();
  });
}

applyTheme();
addEventListener("hashchange", () => {
  if (!state.session) return;
  main.focus({ preventScroll: true }); // before the view is loaded: who writes in it by then keeps the focus
  show();
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); }); // the hash names the view
addEventListener("dragover", (event) => event.preventDefault()); // a file dropped beside its place must not be opened
addEventListener("drop", (event) => event.preventDefault());
addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, textarea, select, [contenteditable], dialog");
  if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey) {
    const field = document.getElementById("question");
    if (field) { event.preventDefault(); field.focus(); }
  }
});
begin();
