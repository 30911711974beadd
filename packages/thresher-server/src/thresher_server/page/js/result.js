// What one recipe makes of a question: watched while it happens, then the answer with everything it rests on.

import { call, stream } from "./api.js";
import { answerText, isShort, sentenceReport } from "./answer.js";
import { chunksOf, comparable, thresholdsOf } from "./chunks.js";
import { element, icon, tell } from "./dom.js";
import { feedbackForm } from "./feedback.js";
import { picture } from "./picture.js";
import { isOnWeb, ownAddress, linked } from "./places.js";
import { inCollection } from "./state.js";
import { doing, stepList } from "./steps.js";
import { markedText } from "./text_view.js";
import { assessment, counted, day, number, placeOf, seconds, shortened, staleOf, titleOf } from "./words.js";

const SEEN_SECONDS = 0.55; // that a stage of the picture stays at least, or nobody sees it pass
const NOTHING_CONFIGURED = "no chat model is configured";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** A result that is about to come. `open` opens a place, `retry` asks again, `outside` asks elsewhere too. */
export function result({ recipe, label, named, open, retry, suggestions }) {
  const steps = stepList();
  const image = picture(open);
  const now = element("p", { class: "now" }, doing([]), "…");
  const said = element("div", { class: "said", "aria-busy": "true" }, now);
  const shown = element("div", { class: "shown" }, image.node, element("details", { class: "path", open: true }, element("summary", {}, "Steps"), steps.node));
  const node = element("section", { class: "result", "aria-label": label },
    named ? element("h3", { class: "recipe-name" }, recipe) : null, said, shown);
  const paced = pace(image.update);
  let ended = [];
  let chunks = [];
  let told = null;

  const onStep = (step) => {
    ended = [...ended, step];
    steps.update(ended, true);
    now.replaceChildren(doing(ended), "…");
    if (step.name === "retrieve") paced({ stage: "falling", falling: step.kept });
    if (!step.chunks) return;
    const seen = new Map([...chunks, ...step.chunks].map((chunk) => [chunk.id, chunk]));
    chunks = comparable([...seen.values()]);
    if (step.name === "judge") paced({ stage: "judged", chunks });
    if (step.name === "decide") paced({ stage: "judged", chunks, thresholds: step.thresholds ?? thresholdsOf(ended) });
    if (step.name === "refine") paced({ stage: "settled", chunks });
  };
  const onSentence = ({ text }) => {
    told ??= said.appendChild(element("p", { class: "answer growing" }));
    told.append(text);
  };
  const show = (answer, explained) => {
    steps.update(answer.steps, false);
    if (explained) chunks = chunksOf(explained, chunks);
    paced({ stage: "settled", chunks, thresholds: thresholdsOf(answer.steps) });
    if (!chunks.length) shown.remove(); // nothing was looked for: a greeting, or a document as a whole
    said.removeAttribute("aria-busy");
    said.replaceChildren(...parts(answer, chunks, { open, suggestions, feedback: explained?.feedback }));
  };
  const fail = (error) => {
    steps.update(ended, false);
    said.removeAttribute("aria-busy");
    said.replaceChildren(problem(error, retry));
    if (!chunks.length) shown.remove();
  };

  /** Ask, and show what happens; resolves to the answer, or null where there is none. */
  const run = async (body, signal) => {
    try {
      for await (const { event, data } of stream("POST", inCollection("ask"), { body: { ...body, recipe, stream: true }, signal })) {
        if (event === "step") onStep(data);
        else if (event === "sentence") onSentence(data);
        else if (event === "error") throw Object.assign(new Error(data.error.what || data.error.message), { next: data.error.next });
        else if (event === "answer") return await finish(data);
      }
      throw new Error("The server stopped in the middle of the answer.");
    } catch (error) {
      fail(error.name === "AbortError" ? Object.assign(new Error("You stopped this question."), { stopped: true }) : error);
      return null;
    }
  };
  const finish = async (answer) => {
    const explained = answer.trace && await call("GET", inCollection("traces", answer.trace)).catch(() => null); // it may not be kept
    show(answer, explained);
    tell(answer.abstained ? `Not answered. ${answer.reason ?? answer.text}` : `${answer.state === "doubtful" ? "" : "Answer: "}${answer.text}`);
    return answer;
  };
  return { node, run, show };
}

/** Calls one after the other, each seen for a moment; at once for who wants no motion. */
function pace(update) {
  let last = Promise.resolve();
  return (next) => {
    if (calm.matches) { update(next); return; }
    last = last.then(() => { update(next); return new Promise((go) => setTimeout(go, SEEN_SECONDS * 1000)); });
  };
}

function problem(error, retry) {
  return element("div", { class: error.stopped ? "notice" : "problem", role: "alert" },
    element("p", {}, element("b", {}, error.stopped ? "Stopped." : "This question failed."), " ", error.message),
    error.next ? element("p", { class: "next" }, error.next) : null,
    element("button", { type: "button", onclick: retry }, icon("again"), "Ask again"));
}

// --- the answer, from top to bottom ------------------------------------------------------------------------------------

function parts(answer, chunks, { open, suggestions, feedback }) {
  return [
    judged(answer),
    answer.abstained ? refusal(answer, chunks, open, suggestions) : element("div", { class: ["answer", isShort(answer) && "short", answer.state === "doubtful" && "doubtful"].filter(Boolean).join(" ") }, answerText(answer, open)),
    answer.state === "doubtful" && answer.reason && element("p", { class: "why" }, `In doubt: ${answer.reason}`),
    certified(answer),
    sentenceReport(answer),
    conflicts(answer),
    sources(answer, open, chunks),
    alternatives(answer, open, chunks),
    withoutParts(answer),
    cost(answer),
    feedbackForm(answer, feedback),
  ].filter(Boolean);
}

const MOONS = { correct: "full", ambiguous: "half", unsure: "half", incorrect: "new" };

function judged(answer) {
  const line = assessment(answer);
  if (!line) return null;
  return element("p", { class: `judged ${MOONS[answer.verdict] ?? ""}` }, answer.verdict ? element("span", { class: "moon", "aria-hidden": "true" }) : null, line,
    answer.citations.some((one) => one.origin === "outside") ? element("span", { class: "outside-tag" }, "answered from outside") : null);
}

/** What the certificate of the recipe says of the answer; loud where it is in doubt. */
function certified({ certificate }) {
  if (!certificate) return null;
  const { state, covers, statement, evidence, threshold, why } = certificate;
  const stated = `${statement} ${evidence}`;
  if (state === "void") return element("p", { class: "certified" }, `Note for administrators: the certificate is void, because ${why}`);
  const line = `${covers ? "Certified" : `Not under the certificate (certainty below ${threshold.toFixed(2)})`}: ${stated}`;
  if (state === "doubtful") return element("div", { class: "problem", role: "alert" }, element("p", {}, element("b", {}, "The certificate is in doubt"), `: ${why}.`), element("p", { class: "next" }, line));
  return element("p", { class: "certified" }, line);
}

function refusal(answer, chunks, open, suggestions) {
  const reason = answer.reason ?? "";
  const why = reason.startsWith(answer.text) ? reason.slice(answer.text.length).trim() : reason;
  const nearest = answer.alternatives ?? [];
  return element("div", { class: "refusal" },
    element("h3", {}, "Not answered"),
    element("p", { class: "refusal-text" }, answer.text),
    why ? element("p", { class: "why" }, why) : null,
    nearest.length ? element("div", { class: "nearest" }, element("h4", {}, "What came nearest"), element("ul", {}, nearest.map(({ citation }) => element("li", {},
      element("q", {}, shortened(citation.quote, 240)),
      element("button", { type: "button", class: "link", onclick: (event) => open(citation, event.currentTarget) }, [titleOf(citation), placeOf(citation)].filter(Boolean).join(", ")))))) : null,
    suggestions?.(answer) ?? null);
}

function conflicts({ conflicts: pairs }) {
  if (!pairs.length) return null;
  return element("ul", { class: "conflicts" }, pairs.map(([one, other]) => element("li", {}, `Sources ${one} and ${other} contradict each other.`)));
}

function sources({ citations, text }, open, chunks) {
  const said = wordsOf(text);
  if (!citations.length) return null;
  return element("ol", { class: "sources", "aria-label": "Sources" }, citations.map((cited) => {
    const outside = cited.origin === "outside";
    const place = linked(cited.url);
    const address = isOnWeb(cited) ? cited.url || cited.source : null;
    return element("li", { value: cited.marker, class: outside ? "outside" : "" },
      element("span", { class: "marker", "aria-hidden": "true" }, String(cited.marker)),
      element("div", {},
        element("p", { class: "source-title" },
          address
            ? element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, titleOf(cited), icon("open"), element("span", { class: "unseen" }, " (another site, in a new tab)"))
            : element("button", { type: "button", class: "link", onclick: (event) => open(cited, event.currentTarget) }, titleOf(cited)),
          outside ? element("span", { class: "outside-tag" }, "from outside") : null),
        element("p", { class: "source-place" },
          [address ? address.replace(/^https?:\/\//, "") : placeOf(cited), cited.fetched ? `read ${day(cited.fetched)}` : "", staleOf(cited)].filter(Boolean).join(" · "),
          place ? element("a", { class: "own-tab", href: ownAddress(place), target: "_blank", "aria-label": `Open ${titleOf(cited)} in a new tab` }, icon("open")) : null),
        said.includes(wordsOf(cited.quote)) ? null : element("blockquote", {}, shortened(cited.quote, 320)),
        around(cited, chunks)));
  }));
}

/** Further passages that may answer, each with the button that opens its place. */
function alternatives({ alternatives: others = [], abstained }, open, chunks) {
  if (abstained || !others.length) return null;
  return element("div", { class: "also", role: "group", "aria-label": "Also" }, element("h3", {}, "Also"),
    others.map(({ text, citation }) => element("div", {}, answerText({ text, citations: [citation], sentences: [] }, open),
      element("p", { class: "source-place" }, [titleOf(citation), placeOf(citation), staleOf(citation)].filter(Boolean).join(" · ")),
      around(citation, chunks))));
}

/** The passage that was read with its cited stretch marked, folded; null where it is no longer than that. */
function around(cited, chunks) {
  const read = chunks.find((chunk) => chunk.source === cited.source && chunk.start <= cited.start && cited.end <= chunk.end && chunk.text?.includes(cited.quote));
  if (!read || read.text.trim() === cited.quote.trim()) return null;
  return element("details", { class: "around" }, element("summary", {}, "Show the text around"), markedText(read, cited));
}

const wordsOf = (text) => (text.match(/[\p{L}\p{N}_]+/gu) ?? []).join(" ");

function withoutParts({ degraded }) {
  const lacks = degraded.filter((lack) => !lack.includes(NOTHING_CONFIGURED));
  if (!lacks.length) return null;
  return element("details", { class: "without" }, element("summary", {}, `Done without ${counted(lacks.length, "part")}`), element("ul", {}, lacks.map((lack) => element("li", {}, lack))));
}

function cost({ steps, usage, recipe, answered_by: by }) {
  const time = steps.reduce((sum, step) => sum + step.seconds, 0);
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  const told = [
    seconds(time), recipe,
    usage.llm_calls ? counted(usage.llm_calls, "model call") : null,
    tokens ? `${number(tokens)} tokens` : null,
    usage.cost ? `${usage.cost.toPrecision(2)} in money` : null,
    usage.web_requests ? counted(usage.web_requests, "web request") : null,
    usage.hosts.length ? `sent to ${usage.hosts.join(", ")}` : "nothing left this machine",
    by === "reader" ? "the chat model failed; the reader answered" : null,
  ];
  return element("p", { class: "cost" }, told.filter(Boolean).map((text) => element("span", {}, text)));
}
