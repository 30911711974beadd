// What the collection holds: searched, filtered, opened, added to, taken out of.

import { call } from "./api.js";
import { element, icon, iconButton, tell } from "./dom.js";
import { openPlace } from "./panel.js";
import { ownAddress } from "./places.js";
import { inCollection, may, state } from "./state.js";
import { dropZone, follow, jobCard } from "./uploads.js";
import { counted, day, fileName, number, titleOf } from "./words.js";

const AT_ONCE = 50; // rows that are fetched

/** Show the documents of the chosen collection. */
export async function documentsView(main) {
  const list = element("ul", { class: "documents" });
  const total = element("p", { class: "hint", role: "status" });
  const more = element("button", { type: "button", class: "quiet wide", hidden: true, onclick: () => fetchMore() }, "Show more");
  const words = element("input", { type: "search", placeholder: "Search titles and names", "aria-label": "Search documents" });
  const kind = element("select", { "aria-label": "Kind" }, element("option", { value: "" }, "every kind"));
  const where = element("input", { type: "text", placeholder: "Filter, e.g. added >= '2026-01-01'", "aria-label": "Filter", spellcheck: "false" });
  const jobs = element("div", { class: "jobs" });
  let shown = 0;
  let asked = 0;

  const fetchMore = async () => {
    const turn = (asked += 1);
    const filters = [kind.value ? `kind = '${kind.value}'` : "", where.value.trim() ? `(${where.value.trim()})` : ""].filter(Boolean).join(" AND ");
    try {
      const found = await call("GET", inCollection("documents"), { parameters: { words: words.value.trim(), where: filters, limit: AT_ONCE, offset: shown } });
      if (turn !== asked) return; // something else was typed meanwhile
      if (!shown) list.replaceChildren();
      list.append(...found.documents.map((one) => row(one, refresh, jobs)));
      shown += found.documents.length;
      total.textContent = found.total ? counted(found.total, "document") : words.value || filters ? "No document fits. Take a word or the filter away." : "No documents yet.";
      more.hidden = shown >= found.total;
    } catch (error) {
      list.replaceChildren();
      more.hidden = true;
      total.textContent = [error.message, error.next].filter(Boolean).join(" ");
    }
  };
  const refresh = () => { shown = 0; return fetchMore(); };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(refresh, 200); };
  words.addEventListener("input", soon);
  where.addEventListener("change", refresh);
  kind.addEventListener("change", refresh);
  main.replaceChildren(element("div", { class: "view" },
    element("h1", {}, "Documents"),
    may("write") ? dropZone(refresh, { small: true }) : null,
    jobs,
    element("search", { class: "row filters" }, element("div", { class: "with-icon" }, icon("search"), words), kind, where),
    total, list, more));
  total.textContent = "Looking what is there…";
  await Promise.all([fetchMore(), kinds(kind)]);
}

/** The kinds that there are, with how many documents. */
async function kinds(select) {
  const { fields } = await call("GET", inCollection());
  const values = fields.find((one) => one.name === "kind")?.values ?? {};
  select.append(...Object.entries(values).map(([name, many]) => element("option", { value: name }, `${name} (${many})`)));
}

function row(one, refresh, jobs) {
  const place = { collection: state.collection, document: one.id, start: 0, end: 0 };
  const open = (event) => openPlace({ ...one, url: ownAddress(place), origin: "inside" }, event.currentTarget);
  const facts = [one.pages ? counted(one.pages, "page") : `${number(one.characters)} characters`, one.date, `added ${day(one.added)}`];
  return element("li", {},
    element("span", { class: "kind" }, one.kind),
    element("div", { class: "document" },
      element("button", { type: "button", class: "link", onclick: open }, titleOf(one)),
      element("p", { class: "hint" }, [fileName(one.source), ...facts].filter(Boolean).join(" · ")),
      one.also?.length ? element("p", { class: "hint" }, `also: ${one.also.map(fileName).join(", ")}`) : null),
    may("write") ? element("div", { class: "actions" },
      iconButton("again", `Read ${titleOf(one)} again`, () => reread(one, jobs, refresh)),
      iconButton("trash", `Remove ${titleOf(one)}`, (event) => remove(one, refresh, event.currentTarget))) : null);
}

async function reread(one, jobs, refresh) {
  const card = jobCard(titleOf(one));
  jobs.prepend(card.node);
  try {
    const { job } = await call("POST", inCollection("documents", one.id, "reindex"));
    await follow(job, card, refresh);
  } catch (error) {
    card.fail(error);
  }
}

function remove(one, refresh, opener) {
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const purge = element("input", { type: "checkbox" });
  const sure = async () => {
    try {
      await call("DELETE", inCollection("documents", one.id), { parameters: purge.checked ? { purge: true } : {} });
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
      return;
    }
    dialog.close();
    tell(`${titleOf(one)} was removed.`);
    await refresh();
  };
  const dialog = element("dialog", { class: "dialog", "aria-labelledby": "remove-title" },
    element("h2", { id: "remove-title" }, `Remove “${titleOf(one)}”?`),
    element("p", {}, "It is no longer found or cited. Your own file stays where it is."),
    element("label", { class: "check" }, purge, "Forget the past answers that quote it, too"),
    problem,
    element("div", { class: "row end" }, element("button", { type: "button", onclick: () => dialog.close() }, "Keep it"), element("button", { type: "button", class: "primary", onclick: sure }, "Remove")));
  dialog.addEventListener("close", () => { dialog.remove(); opener.focus(); });
  document.body.append(dialog);
  dialog.showModal();
}
