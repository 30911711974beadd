// A document at the stretch that a citation names: a PDF on its page, any other as its text.

import { call } from "./api.js";
import { element, tell } from "./dom.js";
import { counted, fileName, number, titleOf } from "./words.js";
import { textView } from "./text_view.js";

/** Fill a node with the document of a place, under a heading of a level. Raises Refused where it is not there. */
export async function viewer(room, place, level = "h2") {
  const path = ["api", "collections", place.collection, "documents", place.document];
  const about = await call("GET", path);
  const [start, end] = place.mark ?? [place.start, place.end]; // of a passage the sentence that answers
  const quote = end > start ? (await call("GET", [...path, "text"], { parameters: { start, end } })).text : "";
  const body = element("div", { class: "viewer-body" });
  const kinds = element("div", { class: "segments", role: "group", "aria-label": "Show as" });
  room.replaceChildren(heading(about, place, level), kinds, body);

  const asText = () => textView(body, path, about, place);
  const asPages = async () => {
    const { pagesView } = await import("./pages_view.js");
    try {
      await pagesView(body, [...path, "file"], place, quote);
    } catch (error) {
      body.replaceChildren();
      await asText();
      body.prepend(element("p", { class: "notice" }, `The PDF itself cannot be shown (${error.message}), so here is its text.`));
    }
  };
  const paged = about.kind === "pdf" && about.file;
  if (!paged) { await asText(); return about; }
  const buttons = [["Pages", asPages], ["Text", asText]].map(([name, show]) => element("button", {
    type: "button", "aria-pressed": "false",
    onclick: (event) => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === event.currentTarget));
      return show();
    },
  }, name));
  kinds.append(...buttons);
  buttons[0].setAttribute("aria-pressed", "true");
  await asPages();
  tell(`${titleOf(about)} is open${place.page ? ` on page ${place.page}` : ""}.`);
  return about;
}

function heading(about, place, level) {
  const facts = [about.kind, about.pages ? counted(about.pages, "page") : `${number(about.characters)} characters`, about.date, place.page ? `opened on page ${place.page}` : null];
  return element("header", { class: "viewer-head" }, element(level, {}, titleOf(about)), element("p", { class: "hint" }, [fileName(about.source), ...facts].filter(Boolean).join(" · ")));
}
