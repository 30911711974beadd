// Every passage a question touched as one picture: grains on a sieve, where their score puts them. What is kept falls
// through, what is dropped drifts off above.

import { drawn, element } from "./dom.js";
import { scaleOf, swarm } from "./swarm.js";
import { counted, placeOf, shortened, titleOf } from "./words.js";

const HEIGHT = 288;
const TOP = 26; // below the names of the zones
const SIEVE = 142; // where the sieve lies, from above
const GROUND = 256; // where the grain comes to rest
const EDGE = 30; // room at both sides of the axis
const APART = 64; // room at the left for what was not judged
const LOOSE = 34; // from the sieve to the lowest chaff
const GRAIN = "M0-11C6.4-6.6 7 3.6 0 11C-7 3.6-6.4-6.6 0-11Z";
const CREASE = "M0-6.5V6.5";
const HUSK = "M0-10C5.4-6 5.2 3.4 0.6 9.4M-0.6 9.4C-5.6 3.4-5-6-1-9.4"; // an empty hull, open at both ends

let pictures = 0;

/** The picture of one question; `open` is called with a passage a person wants to read in its document. */
export function picture(open) {
  const id = `picture-${(pictures += 1)}`;
  const canvas = drawn("svg", { class: "threshing", height: HEIGHT, role: "group", "aria-label": "Passages on the axis of their score" });
  const ground = drawn("g", { "aria-hidden": "true" });
  const grains = drawn("g");
  canvas.append(ground, grains);
  const count = element("p", { class: "count", id: `${id}-count` });
  const card = element("div", { class: "card", "aria-live": "polite" });
  const table = element("details", { class: "as-table", hidden: true });
  const node = element("figure", { class: "picture", "aria-labelledby": `${id}-count` }, count, canvas, card, table);
  let told = { chunks: [], thresholds: null, stage: "empty" };
  let nodes = new Map();
  let chosen = null;

  const draw = () => {
    const width = Math.max(260, canvas.clientWidth || node.clientWidth || 420);
    const size = sizeOf(told.chunks.length);
    canvas.style.setProperty("--size", String(size));
    canvas.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const scale = scaleOf(told.chunks, told.thresholds);
    const apart = told.stage !== "falling" && told.chunks.some((one) => unscored(one.score)) ? APART : 0;
    const x = (value) => (unscored(value) ? EDGE : EDGE + apart + (width - 2 * EDGE - apart) * scale.share(value));
    ground.replaceChildren(...backdrop(width, x, scale, told));
    place(told, nodes, x, width, size);
  };
  const choose = (chunk, focus) => {
    for (const [other, grain] of nodes) {
      grain.setAttribute("tabindex", other === chunk.id ? "0" : "-1");
      grain.classList.toggle("chosen", other === chunk.id);
    }
    if (focus) nodes.get(chunk.id).focus();
    if (chosen === chunk.id) return;
    chosen = chunk.id;
    card.replaceChildren(...cardOf(chunk, told));
  };
  const keys = (event, chunk) => {
    const order = [...told.chunks].sort((one, other) => (other.score ?? -1) - (one.score ?? -1));
    const step = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1 }[event.key];
    const at = event.key === "Home" ? 0 : event.key === "End" ? order.length - 1 : step ? order.indexOf(chunk) + step : null;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(chunk, event.currentTarget); }
    if (at === null || !order[at]) return;
    event.preventDefault();
    choose(order[at], true);
  };
  const update = (next) => {
    told = { ...told, ...next };
    if (told.stage === "settled") chosen ??= best(told.chunks)?.id ?? null;
    nodes = fill(grains, told, nodes, { choose, keys, open });
    count.replaceChildren(...headline(told));
    table.hidden = told.stage !== "settled";
    if (!table.hidden) table.replaceChildren(...tableOf(told, open));
    const shown = told.chunks.find((one) => one.id === chosen);
    if (shown) card.replaceChildren(...cardOf(shown, told));
    else card.replaceChildren(element("p", { class: "hint" }, told.chunks.length ? "Point at a passage to read it, or walk through them with the arrow keys." : "Passages that are found appear here."));
    draw();
  };
  new ResizeObserver(() => draw()).observe(canvas);
  update({});
  return { node, update };
}

/** How large a grain is drawn: few are large, so that one that counts is seen at a glance. */
const sizeOf = (many) => (many <= 14 ? 1.25 : many <= 30 ? 1 : 0.75);

/** What is shown before a person points at anything: the best of what was kept. */
function best(chunks) {
  return chunks.filter((one) => one.kept).reduce((most, one) => (most && (most.score ?? -1e9) >= (one.score ?? -1e9) ? most : one), null);
}

function headline({ chunks, stage, falling }) {
  if (stage === "empty") return ["No passages yet"];
  if (stage === "falling") return [element("span", {}, `${counted(falling, "passage")} found`)];
  if (stage === "judged") return [element("span", {}, `${counted(chunks.length, "passage")} judged`)];
  const kept = chunks.filter((one) => one.kept).length;
  return [
    element("span", { class: "grain-count" }, element("b", {}, String(kept)), " kept for the answer"),
    element("span", { class: "chaff-count" }, element("b", {}, String(chunks.length - kept)), " dropped"),
  ];
}

// --- what lies behind the grains ---------------------------------------------------------------------------------------

function backdrop(width, x, scale, { thresholds, stage }) {
  const parts = [];
  const left = x(scale.low);
  const right = x(scale.high);
  if (thresholds) {
    const [lower, upper] = [x(thresholds.lower), x(thresholds.upper)];
    parts.push(
      drawn("rect", { class: "zone sure", x: upper, y: TOP, width: Math.max(0, right - upper + EDGE), height: GROUND - TOP }),
      drawn("rect", { class: "zone doubtful", x: lower, y: TOP, width: Math.max(0, upper - lower), height: GROUND - TOP }),
      ...bound(lower, thresholds.lower), ...bound(upper, thresholds.upper),
      ...zoneNames(left, lower, upper, right));
  }
  parts.push(drawn("line", { class: "ground", x1: 0, x2: width, y1: GROUND, y2: GROUND }));
  parts.push(drawn("line", { class: "sieve", x1: 10, x2: width - 10, y1: SIEVE, y2: SIEVE }));
  parts.push(drawn("text", { class: "tick", x: left, y: HEIGHT - 8, "text-anchor": "middle" }, scale.name(scale.low)));
  parts.push(drawn("text", { class: "tick", x: right, y: HEIGHT - 8, "text-anchor": "middle" }, scale.name(scale.high)));
  if (left > EDGE) parts.push(drawn("text", { class: "tick", x: 4, y: HEIGHT - 8 }, "not judged"));
  if (stage === "settled") {
    parts.push(drawn("text", { class: "side", x: width - 12, y: SIEVE - 9, "text-anchor": "end" }, "dropped"), drawn("text", { class: "side", x: width - 12, y: SIEVE + 18, "text-anchor": "end" }, "kept"));
  }
  return parts;
}

const bound = (at, value) => [
  drawn("line", { class: "bound", x1: at, x2: at, y1: TOP, y2: GROUND }),
  drawn("text", { class: "tick", x: at, y: HEIGHT - 8, "text-anchor": "middle" }, Number(value.toFixed(2)).toString()),
];

/** What the verdict would be if the best passage lay there; a zone too narrow for its name has none. */
function zoneNames(left, lower, upper, right) {
  const zones = [["insufficient", left, lower], ["in doubt", lower, upper], ["sufficient", upper, right]];
  return zones
    .filter(([name, from, to]) => to - from > name.length * 6.2)
    .map(([name, from, to]) => drawn("text", { class: "zone-name", x: (from + to) / 2, y: 16, "text-anchor": "middle" }, name));
}

// --- the grains --------------------------------------------------------------------------------------------------------

/** A node for each passage, kept over the stages so that it moves instead of jumping. */
function fill(grains, { chunks, stage, falling }, before, { choose, keys, open }) {
  if (stage === "falling") {
    const loose = new Map(Array.from({ length: Math.min(falling, 24) }, (_, at) => [`loose-${at}`, before.get(`loose-${at}`) ?? grainNode()]));
    grains.replaceChildren(...loose.values());
    return loose;
  }
  const loose = [...before].filter(([name]) => name.startsWith("loose-")).map(([, node]) => node);
  const nodes = new Map(chunks.map((chunk) => [chunk.id, before.get(chunk.id) ?? loose.pop() ?? grainNode()]));
  const anyChosen = chunks.some((chunk) => nodes.get(chunk.id).getAttribute("tabindex") === "0");
  chunks.forEach((chunk, at) => {
    const node = nodes.get(chunk.id);
    const settled = stage === "settled";
    node.setAttribute("class", ["one", settled ? (chunk.kept ? "kept" : "dropped") : "waiting", chunk.origin, node.classList.contains("chosen") ? "chosen" : ""].join(" "));
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", labelOf(chunk, settled));
    if (!node.hasAttribute("tabindex")) node.setAttribute("tabindex", !anyChosen && at === 0 ? "0" : "-1");
    node.onpointerenter = () => choose(chunk, false);
    node.onfocus = () => choose(chunk, false);
    node.onclick = () => open(chunk, node);
    node.onkeydown = (event) => keys(event, chunk);
  });
  grains.replaceChildren(...nodes.values());
  return nodes;
}

function grainNode() {
  return drawn("g", { class: "one waiting" },
    drawn("circle", { class: "target", r: 13 }),
    drawn("g", { class: "turned" },
      drawn("path", { class: "grain", d: GRAIN }), drawn("path", { class: "crease", d: CREASE }), drawn("path", { class: "husk", d: HUSK })));
}

function place({ chunks, stage, falling }, nodes, x, width, size) {
  if (stage === "falling") {
    [...nodes.values()].forEach((node, at) => move(node, EDGE + ((at + 0.5) * (width - 2 * EDGE)) / nodes.size, SIEVE - 14 - ((at * 37) % 60), at, nodes.size));
    return;
  }
  const at = (chunk) => x(chunk.score);
  const settled = stage === "settled";
  const sides = settled ? [chunks.filter((one) => one.kept), chunks.filter((one) => !one.kept)] : [chunks];
  sides.forEach((side, below) => {
    const bottom = settled ? (below === 0 ? GROUND - 12 * size : SIEVE - LOOSE) : SIEVE - 12 * size;
    const room = settled && below === 0 ? GROUND - SIEVE - 34 : bottom - TOP - 8;
    for (const { item, left, level } of swarm(side, at, room, size)) {
      move(nodes.get(item.id), left, bottom - level, chunks.indexOf(item), chunks.length);
    }
  });
}

function move(node, left, top, at, of) {
  node.style.setProperty("transform", `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`);
  node.style.setProperty("--turn", `${((at * 53) % 70) - 35}deg`);
  node.style.setProperty("--late", `${Math.round((at / Math.max(1, of)) * 260)}ms`);
}

// --- in words ----------------------------------------------------------------------------------------------------------

const unscored = (score) => score === null || score === undefined;
const scoreText = ({ score }) => (unscored(score) ? "not judged" : score.toFixed(2));
const fateText = (chunk) => (chunk.kept ? "kept" : `dropped${chunk.dropped_by ? ` by ${chunk.dropped_by}` : ""}`);

function labelOf(chunk, settled) {
  const place = placeOf(chunk);
  const outside = chunk.origin === "outside" ? ", from outside" : "";
  return `${settled ? fateText(chunk) : "judged"}, ${scoreText(chunk)}: ${shortened(titleOf(chunk), 60)}${place ? `, ${place}` : ""}${outside}`;
}

function cardOf(chunk, { stage }) {
  const fate = stage === "settled" ? element("span", { class: `fate ${chunk.kept ? "kept" : "dropped"}` }, fateText(chunk)) : null;
  return [
    element("p", { class: "card-head" }, element("b", { class: "number" }, scoreText(chunk)), fate, chunk.origin === "outside" ? element("span", { class: "outside-tag" }, "from outside") : null),
    element("p", { class: "card-title" }, [titleOf(chunk), placeOf(chunk)].filter(Boolean).join(" · ")),
    chunk.reason ? element("p", { class: "why" }, chunk.reason) : null,
    chunk.quote ? element("blockquote", {}, shortened(chunk.quote, 260)) : null,
    chunk.text && !chunk.quote ? element("p", { class: "card-text" }, shortened(chunk.text.replace(/^#+ .*\n+/, ""), 260)) : null,
  ].filter(Boolean);
}

function tableOf({ chunks }, open) {
  const rows = [...chunks].sort((one, other) => Number(other.kept) - Number(one.kept) || (other.score ?? -1) - (one.score ?? -1));
  return [
    element("summary", {}, "The same as a table"),
    element("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Passages as a table" }, element("table", {},
      element("caption", { class: "unseen" }, "Every passage the question touched, kept or dropped, with its score and why"),
      element("thead", {}, element("tr", {}, ["Score", "Kept", "Passage", "Why"].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, rows.map((chunk) => element("tr", {},
        element("td", { class: "number" }, scoreText(chunk)),
        element("td", {}, fateText(chunk)),
        element("td", {}, element("button", { type: "button", class: "link", onclick: (event) => open(chunk, event.currentTarget) }, [titleOf(chunk), placeOf(chunk)].filter(Boolean).join(", "))),
        element("td", {}, chunk.reason ?? "")))))),
  ];
}
