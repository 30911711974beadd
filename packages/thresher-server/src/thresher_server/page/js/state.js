// What the views share: who asks, which collection, which recipes there are, and what a person changed.

import { call } from "./api.js";

const KEPT = "thresher";

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {}; // something else wrote there
  }
}

export const state = {
  session: null,
  recipes: [],
  collections: [],
  /** Name of the collection that is asked. */
  collection: "default",
  /** Settings a person changed, by recipe and dotted key; they go with every question to that recipe. */
  settings: kept().settings ?? {},
  theme: kept().theme ?? "auto",
};

/** Remember in this browser what a person chose. */
export function keep() {
  localStorage.setItem(KEPT, JSON.stringify({ settings: state.settings, theme: state.theme, collection: state.collection }));
}

/** Light, dark, or as the system has it. */
export function applyTheme() {
  document.documentElement.setAttribute("data-theme", state.theme);
}

/** Ask the server who we are and what there is. */
export async function load() {
  const session = await call("GET", ["api", "session"]);
  const [recipes, collections] = await Promise.all([call("GET", ["api", "recipes"]), call("GET", ["api", "collections"])]);
  state.recipes = recipes;
  state.collections = collections.collections;
  const names = state.collections.map((one) => one.name);
  const full = state.collections.filter((one) => one.documents).map((one) => one.name);
  const wanted = kept().collection;
  const { collection, collections: own } = session;
  const usual = own && !own.includes(collection) ? names[0] ?? own[0] ?? collection : collection;
  state.collection = names.includes(wanted) ? wanted : full.includes(usual) ? usual : full[0] ?? usual;
  state.session = session; // the last: a view is shown once there is a session
}

/** Whether the person may do that: read, ask, write or admin. */
export const may = (scope) => state.session.scopes.includes(scope) || state.session.scopes.includes("admin");

/** What a person changed of a recipe; null for nothing. */
export const changesOf = (recipe) => (Object.keys(state.settings[recipe] ?? {}).length ? state.settings[recipe] : null);

/** A path of the API below the chosen collection. */
export const inCollection = (...parts) => ["api", "collections", state.collection, ...parts];
