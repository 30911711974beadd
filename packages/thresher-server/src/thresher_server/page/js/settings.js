// What a person may change: how the page looks, and the settings of a recipe that go with every question from here.

import { call, signOut } from "./api.js";
import { element } from "./dom.js";
import { applyTheme, changesOf, keep, state } from "./state.js";

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
    element("section", {}, element("h2", {}, "This server"), facts(session), session.needs_key ? element("button", { type: "button", onclick: signOut }, "Sign out") : null),
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
    ["Signed in as", session.caller === "loopback" ? "a person at this computer" : session.caller], ["You may", session.scopes.join(", ")], ["Chat model", session.chat_model ?? "none: answers are read out of the documents"],
    ["Asked first", `${session.recipe} over “${session.collection}”`], ["Version", session.version],
  ];
  return element("dl", { class: "facts" }, told.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

async function showRecipe(rows, recipe) {
  const told = await call("GET", ["api", "recipes", recipe], { parameters: { collection: state.collection } });
  const slots = element("details", {}, element("summary", {}, "What stands in each step"),
    element("dl", { class: "facts" }, Object.entries(told.slots).map(([slot, part]) => [element("dt", {}, slot), element("dd", {}, part)])));
  const back = () => {
    delete state.settings[recipe];
    keep();
    showRecipe(rows, recipe);
  };
  const undo = element("button", { type: "button", onclick: back }, "Take all changes back");
  const changed = () => { undo.hidden = changesOf(recipe) === null; };
  const filter = element("input", { type: "search", placeholder: "Search settings", "aria-label": "Search settings" });
  const list = element("div", { class: "setting-list" }, told.settings.filter((one) => one.may_change).map((one) => setting(recipe, one, changed)));
  filter.addEventListener("input", () => {
    for (const row of list.children) row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
  });
  changed();
  rows.replaceChildren(slots, undo, element("details", { open: changesOf(recipe) !== null }, element("summary", {}, "Every setting by its key"), filter, list));
}

/** A setting of a recipe with the field to change it; `changed` is called when it was. */
function setting(recipe, { key: name, value, description, form }, changed) {
  const id = `setting-${name}`;
  const own = state.settings[recipe] ?? {};
  const field = fieldFor(id, name in own ? own[name] : value, form);
  const row = element("div", { class: name in own ? "setting changed" : "setting" }, element("label", { for: id }, name), field, element("p", { class: "hint" }, description));
  field.addEventListener("change", () => {
    const given = givenIn(field, form);
    const { [name]: _, ...others } = state.settings[recipe] ?? {};
    state.settings[recipe] = given === value ? others : { ...others, [name]: given };
    keep();
    row.classList.toggle("changed", given !== value);
    changed();
  });
  return row;
}

/** The forms that a value may have, apart from none: of `anyOf` those that are not null. */
const formsOf = (form) => (form.anyOf ?? [form]).filter((one) => one.type !== "null");
const mayBeNone = (form) => formsOf(form).length < (form.anyOf ?? [form]).length;
const isNumber = (form) => formsOf(form).some((one) => one.type === "number" || one.type === "integer");

function fieldFor(id, current, form) {
  const [first] = formsOf(form);
  const choices = first.enum;
  if (choices) {
    const options = [...(mayBeNone(form) ? [["", "as it is"]] : []), ...choices.map((one) => [one, one])];
    return element("select", { id }, options.map(([value, label]) => element("option", { value, selected: value === (current ?? "") }, String(label))));
  }
  if (first.type === "boolean") return element("input", { id, type: "checkbox", checked: current === true });
  const value = current === null ? "" : String(current);
  if (!isNumber(form)) return element("input", { id, type: "text", value, spellcheck: "false" });
  return element("input", { id, type: "number", step: first.type === "integer" ? 1 : "any", min: first.minimum, max: first.maximum, value });
}

function givenIn(field, form) {
  if (field.type === "checkbox") return field.checked;
  if (field.value === "" && mayBeNone(form)) return null;
  return isNumber(form) ? Number(field.value) : field.value;
}
