// What a person may change: how the page looks, and the settings of a recipe that go with every question from here.

import { call, key } from "./api.js";
import { element } from "./dom.js";
import { applyTheme, keep, state } from "./state.js";

const THEMES = [["auto", "As the system"], ["light", "Light"], ["dark", "Dark"]];

/** Show the settings. */
export async function settingsView(main) {
  const { session } = state;
  const recipe = element("select", { id: "settings-recipe" }, state.recipes.map((one) => element("option", { value: one.name, selected: one.name === session.recipe }, one.name)));
  const rows = element("div", { class: "settings", "aria-live": "polite" });
  const show = () => showRecipe(rows, recipe.value);
  recipe.addEventListener("change", show);
  main.replaceChildren(element("div", { class: "view" },
    element("h1", {}, "Settings"),
    element("section", {}, element("h2", {}, "Look"), themes()),
    element("section", {}, element("h2", {}, "This server"), facts(session), session.needs_key ? element("button", { type: "button", onclick: () => { key.forget(); location.reload(); } }, "Forget the key") : null),
    element("section", {}, element("h2", {}, "Asking"),
      element("p", { class: "hint" }, "What you change here goes with the questions you ask from this browser. It changes nothing for others."),
      element("div", { class: "row" }, element("label", { for: "settings-recipe" }, "Recipe"), recipe), rows)));
  await show();
}

function themes() {
  return element("fieldset", { class: "segments" }, element("legend", { class: "unseen" }, "Light or dark"), THEMES.map(([value, label]) => {
    const radio = element("input", { type: "radio", name: "theme", value, checked: state.theme === value, onchange: () => { state.theme = value; keep(); applyTheme(); } });
    return element("label", {}, radio, label);
  }));
}

function facts(session) {
  const told = [
    ["You are", session.caller], ["You may", session.scopes.join(", ")], ["Chat model", session.chat_model ?? "none: answers are read out of the documents"],
    ["Asked first", `${session.recipe} over “${session.collection}”`], ["Version", session.version],
  ];
  return element("dl", { class: "facts" }, told.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

async function showRecipe(rows, name) {
  const told = await call("GET", ["api", "recipes", name], { parameters: { collection: state.collection } });
  const may = told.settings.filter((one) => one.may_change);
  const slots = element("details", {}, element("summary", {}, "What stands in each step"), element("dl", { class: "facts" }, Object.entries(told.slots).map(([slot, part]) => [element("dt", {}, slot), element("dd", {}, part)])));
  const filter = element("input", { type: "search", placeholder: "Search settings", "aria-label": "Search settings" });
  const list = element("div", { class: "setting-list" }, may.map(setting));
  filter.addEventListener("input", () => {
    for (const row of list.children) row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
  });
  const changed = Object.keys(state.settings).length;
  rows.replaceChildren(...[slots, changed ? element("button", { type: "button", onclick: () => { state.settings = {}; keep(); showRecipe(rows, name); } }, "Take all changes back") : null, filter, list].filter(Boolean));
}

function setting({ key: name, value, description, form }) {
  const id = `setting-${name}`;
  const current = state.settings[name] ?? value;
  const field = fieldFor(id, current, value, form);
  const mark = () => field.closest(".setting")?.classList.toggle("changed", name in state.settings);
  field.addEventListener("change", () => {
    const given = field.type === "checkbox" ? field.checked : parsed(field.value, value);
    if (String(given) === String(value)) delete state.settings[name];
    else state.settings[name] = given;
    keep();
    mark();
  });
  const row = element("div", { class: "setting" }, element("label", { for: id }, name), field, element("p", { class: "hint" }, description));
  mark();
  row.classList.toggle("changed", name in state.settings);
  return row;
}

function fieldFor(id, current, usual, form) {
  const choices = form.enum ?? form.anyOf?.find((one) => one.enum)?.enum;
  if (choices) return element("select", { id }, choices.map((one) => element("option", { value: one, selected: one === current }, String(one))));
  if (typeof usual === "boolean") return element("input", { id, type: "checkbox", checked: current === true });
  if (typeof usual === "number") return element("input", { id, type: "number", step: form.type === "integer" ? 1 : "any", min: form.minimum, max: form.maximum, value: String(current) });
  return element("input", { id, type: "text", value: current === null ? "" : String(current), spellcheck: "false" });
}

function parsed(text, usual) {
  if (typeof usual === "number") return Number(text);
  return usual === null && text === "" ? null : text;
}
