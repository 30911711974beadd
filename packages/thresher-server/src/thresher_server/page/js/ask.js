// The first view: a question, what happens to it, and the next one.

import { call } from "./api.js";
import { element, icon } from "./dom.js";
import { openPlace } from "./panel.js";
import { inCollection, may, state } from "./state.js";
import { pastTurn, turn } from "./turn.js";
import { dropZone } from "./uploads.js";
import { counted, day, number, shortened } from "./words.js";

const NOWHERE = "none";
const REMEMBERED = 10; // turns that a recipe beside the first one is told, as many as the server tells the first
const RECENT = 4; // questions that are shown before the first one

/** The conversation is kept while a person looks at other views. */
let talk = null;

/** Show the conversation, or the place to begin one; `trace` shows a question of the past. */
export async function askView(main, trace) {
  if (trace) { await showPast(main, trace); return; }
  if (talk?.collection !== state.collection) talk = conversation();
  main.replaceChildren(talk.node);
  await talk.ready;
  if (!talk.node.contains(document.activeElement)) talk.field.focus({ preventScroll: true });
}

/** Put a question into the field, and ask it. */
export async function askAgain(question) {
  location.hash = "#/ask";
  if (talk?.collection !== state.collection) talk = conversation();
  await talk.ready;
  talk.ask(question);
}

async function showPast(main, trace) {
  main.replaceChildren(element("p", { class: "loading", role: "status" }, "Looking it up…"));
  const shown = await pastTurn(trace, { open: openPlace, suggestions });
  main.replaceChildren(element("div", { class: "conversation" }, element("h1", { class: "unseen" }, "A past question"), element("p", { class: "back" }, element("a", { href: "#/past" }, icon("left"), "Past questions")), shown,
    element("p", { class: "row" }, element("button", { type: "button", onclick: () => askAgain(shown.dataset.again) }, icon("again"), "Ask it again today"))));
}

function conversation() {
  const turns = element("div", { class: "turns" });
  const welcome = element("div", { class: "welcome" });
  const said = []; // questions and answers of it
  let kept = null; // the server's id of this conversation
  let stop = null;

  const ask = async (question, { apart = false } = {}) => {
    const recipes = [form.recipe(), form.beside()].filter(Boolean);
    recent.remove();
    if (welcome.isConnected) welcome.replaceWith(element("h1", { class: "unseen" }, "Questions and answers"));
    stop = new AbortController();
    form.busy(true);
    kept ??= await begun();
    const goesOn = kept && !apart;
    const conversation = goesOn ? { conversation: kept } : {};
    const history = goesOn ? { history: said.slice(-REMEMBERED) } : {};
    const one = turn({ question, recipes, options: form.options(), conversation, history }, { open: openPlace, suggestions, signal: stop.signal, asAsked: () => ask(question, { apart: true }) });
    turns.prepend(one.node);
    fresh.hidden = false;
    scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    const answer = await one.done;
    one.node.querySelector(".answer strong")?.scrollIntoView({ block: "nearest" }); // on a phone it may stand below what is seen
    if (answer && goesOn) said.push([answer.standalone ?? question, answer.text]);
    await one.all;
    form.busy(false);
  };
  const form = composer(ask, () => stop?.abort());
  const fresh = element("button", { type: "button", class: "quiet", hidden: true, onclick: () => { talk = null; askView(document.getElementById("main")); } }, "New conversation");
  form.foot.append(fresh);
  const recent = element("div", { class: "recent" });
  const node = element("div", { class: "conversation bare" }, welcome, form.node, recent, turns); // bare: nothing to ask yet
  const ready = welcomed(welcome, recent, node, ask, form);
  return { collection: state.collection, node, ask, ready, field: form.field };
}

/** A conversation of the server, so that follow-ups are understood; without one each question stands alone. */
async function begun() {
  return call("POST", inCollection("conversations"), { body: {} }).then((made) => made.id, () => null);
}

// --- before the first question -----------------------------------------------------------------------------------------

async function welcomed(welcome, recent, node, ask, form) {
  welcome.replaceChildren(element("p", { class: "loading", role: "status" }, "Looking what is there…"));
  const status = await call("GET", ["api", "collections", state.collection]);
  if (!may("ask")) {
    welcome.replaceChildren(element("h1", {}, "You may read, not ask."), element("p", { class: "lead" }, "Your key opens the documents. Whoever runs the server can give you one that may ask them, too."));
    return;
  }
  if (!status.documents) {
    welcome.replaceChildren(...firstVisit((job) => {
      node.classList.remove("bare");
      if (job.state === "done") welcomed(welcome, recent, node, ask, form); // of what failed the reasons stay
    }));
    return;
  }
  form.offer(status.ready);
  welcome.replaceChildren(...greeting(status));
  node.classList.remove("bare");
  recent.replaceChildren(...await before(ask));
}

function firstVisit(done) {
  return [
    element("h1", {}, "Answers from your own documents."),
    element("p", { class: "lead" }, "Thresher reads what you give it, judges every passage it finds, and answers only from what holds. When nothing holds, it says so."),
    may("write") ? dropZone(done) : element("p", { class: "hint" }, "This collection holds no documents yet. Ask whoever runs the server for a key that may add some."),
  ];
}

function greeting(status) {
  return [
    element("h1", {}, "What would you like to know?"),
    element("p", { class: "lead" }, `${counted(status.documents, "document")}, ${number(status.chunks)} passages in “${state.collection}”. Every passage that a question touches is judged before it is trusted.`),
  ];
}

/** The last questions of this person, each once; everybody's where the server says so. */
async function before(ask) {
  const { traces } = await call("GET", inCollection("traces"), { parameters: { limit: 20, own: !state.session.everyones_questions } });
  const questions = [...new Map(traces.map((one) => [one.question, one])).values()].slice(0, RECENT);
  if (!questions.length) return [];
  return [element("h2", {}, "Asked before"), element("ul", {}, questions.map((one) => element("li", {},
    element("button", { type: "button", class: "link", onclick: () => ask(one.question) }, shortened(one.question, 90)), element("span", { class: "hint" }, day(one.asked)))))];
}

function suggestions(answer) {
  return element("div", { class: "row suggestions" },
    may("write") ? element("a", { class: "button", href: "#/documents" }, "Add documents") : null,
    element("button", { type: "button", onclick: () => { talk.field.value = answer.question; talk.field.focus(); talk.field.select(); } }, "Ask in other words"),
    element("a", { class: "button", href: "#/gaps" }, "See the gaps"));
}

// --- where a question is written ---------------------------------------------------------------------------------------

function composer(ask, stop) {
  const field = element("textarea", { id: "question", rows: "1", placeholder: "Ask your documents", maxlength: "8000", "aria-label": "Your question" });
  const recipe = choice("Recipe", [[state.session.recipe, state.session.recipe]], state.session.recipe);
  const beside = choice("Beside", [["", "no other"]], "");
  const others = state.collections.filter((one) => one.name !== state.collection).map((one) => [`collection:${one.name}`, one.name]);
  const mode = choice("Shown", [["", "as set"], ["strict", "strict: what is supported alone"], ["balanced", "balanced: the unsupported marked"], ["open", "open: everything, marked"]], "");
  const outside = choice("Elsewhere", [["", "as set"], [NOWHERE, "nowhere"], ...(state.session.web ? [["web", "the web"]] : []), ...others], "");
  const where = element("input", { type: "text", placeholder: "kind = 'pdf' AND page <= 3", spellcheck: "false", autocomplete: "off" });
  const send = element("button", { class: "primary round", "aria-label": "Ask", title: "Ask" }, icon("send"));
  const halt = element("button", { type: "button", class: "primary", hidden: true, onclick: stop }, "Stop");
  const grow = () => {
    field.style.setProperty("height", "auto");
    field.style.setProperty("height", `${Math.min(field.scrollHeight, 200)}px`);
  };
  const submit = (event) => {
    event?.preventDefault();
    const question = field.value.trim();
    if (!question || send.hidden) return;
    field.value = "";
    grow();
    choices.open = false;
    ask(question);
  };
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  });
  const summary = element("summary", {}, "How to ask");
  const choices = element("details", { class: "choices", onchange: () => { summary.textContent = ["How to ask", chosen()].filter(Boolean).join(": "); } },
    summary, element("div", { class: "row" }, recipe.node, beside.node, mode.node, outside.node, element("label", {}, "Only where", where)));
  const chosen = () => [
    recipe.value() === state.session.recipe ? "" : `with ${recipe.value()}`, beside.value() ? `beside ${beside.value()}` : "",
    mode.value(), outside.value() ? `elsewhere ${outside.value().replace(/^collection:/, "")}` : "", where.value.trim() ? `where ${where.value.trim()}` : "",
  ].filter(Boolean).join(", ");
  const foot = element("div", { class: "composer-foot" }, choices);
  const node = element("form", { class: "composer", onsubmit: submit }, element("div", { class: "field" }, field, send, halt), foot);
  return {
    node, field, foot,
    recipe: () => recipe.value(),
    beside: () => (beside.value() === recipe.value() ? null : beside.value()),
    options: () => ({
      settings: mode.value() ? { "answer.mode": mode.value() } : {},
      ...(outside.value() ? { outside: outside.value() } : {}),
      ...(where.value.trim() ? { where: where.value.trim() } : {}),
    }),
    /** Offer the recipes that can be asked here; those whose index has to be made first are for who may make it. */
    offer(ready) {
      const runnable = state.recipes.map((one) => one.name).filter((name) => state.session.chat_model || !state.recipes.find((one) => one.name === name).needs_llm);
      const named = (names) => names.map((name) => [name, name]);
      const usual = state.session.recipe;
      const later = named(runnable.filter((name) => !ready.includes(name)));
      recipe.fill(named(runnable.filter((name) => ready.includes(name))), later, usual);
      beside.fill([["", "no other"], ...named(runnable.filter((name) => ready.includes(name)))], later, "");
    },
    busy: (is) => { send.hidden = is; halt.hidden = !is; },
  };
}

function choice(name, options, chosen) {
  const select = element("select");
  const fill = (now, later, value) => {
    const option = ([one, label]) => element("option", { value: one, selected: one === value }, label);
    const group = later.length ? element("optgroup", { label: "For administrators (makes an index first)", disabled: !may("write") }, later.map(option)) : "";
    select.replaceChildren(...now.map(option), group);
  };
  fill(options, [], chosen);
  return { node: element("label", {}, name, select), value: () => select.value, fill };
}
