// A PDF page by page, drawn by pdf.js, with a sentence marked through the text that pdf.js lays over the drawing.

import { address, headers } from "./api.js";
import { element, iconButton } from "./dom.js";
import { stretchesOf } from "./quotes.js";

const VENDOR = new URL("../vendor/", import.meta.url);
const ZOOM = 1.25; // from one size to the next
const MOST_AHEAD = 3; // pages from where a passage begins to its sentence
const MOST_PIXELS = 2; // of the drawing for one of the screen: more costs memory and shows nothing

let library = null;

async function pdfjs() {
  library ??= import(new URL("pdf.min.mjs", VENDOR)).then((loaded) => {
    loaded.GlobalWorkerOptions.workerSrc = new URL("pdf.worker.min.mjs", VENDOR).href;
    return loaded;
  });
  return library;
}

/** Show the page of a place, its quote marked. Raises what pdf.js says of a file that it cannot read. */
export async function pagesView(body, path, place, quote) {
  const { getDocument, TextLayer } = await pdfjs();
  // Its WebAssembly would need a looser policy; pictures in JPEG 2000 and JBIG2 alone need it.
  const file = await getDocument({ url: address(path).href, httpHeaders: headers(), useWasm: false }).promise;
  const canvas = element("canvas", { "aria-hidden": "true" });
  const marks = element("div", { class: "pdf-marks", "aria-hidden": "true" });
  const layer = element("div", { class: "textLayer" });
  const sheet = element("div", { class: "sheet" }, canvas, marks, layer);
  const room = element("div", { class: "sheet-room", tabindex: "0", role: "region", "aria-label": "Page" }, sheet);
  const status = element("p", { class: "page-status", role: "status" });
  const before = iconButton("left", "Page before", () => turn(-1));
  const after = iconButton("right", "Next page", () => turn(1));
  const smaller = iconButton("minus", "Smaller", () => resize(1 / ZOOM));
  const larger = iconButton("plus", "Larger", () => resize(ZOOM));
  let zoom = 1;
  let current = Math.min(Math.max(1, place.page ?? 1), file.numPages);
  let drawing = Promise.resolve();

  const draw = async () => {
    const page = await file.getPage(current);
    const natural = page.getViewport({ scale: 1 });
    const width = zoom * Math.min(body.clientWidth, 1000);
    const viewport = page.getViewport({ scale: width / natural.width });
    const dense = Math.min(MOST_PIXELS, devicePixelRatio || 1);
    canvas.width = Math.round(viewport.width * dense);
    canvas.height = Math.round(viewport.height * dense);
    for (const [name, value] of [["width", viewport.width], ["height", viewport.height]]) sheet.style.setProperty(name, `${value}px`);
    sheet.style.setProperty("--total-scale-factor", String(viewport.scale));
    layer.replaceChildren();
    marks.replaceChildren();
    await page.render({ canvas, viewport, transform: dense === 1 ? null : [dense, 0, 0, dense, 0, 0] }).promise;
    const text = new TextLayer({ textContentSource: await page.getTextContent(), container: layer, viewport });
    await text.render();
    const found = mark(sheet, marks, text, quote);
    before.disabled = current === 1;
    after.disabled = current === file.numPages;
    status.replaceChildren(`Page ${current} of ${file.numPages}`, ...(found ? [element("span", { class: "marked" }, "the sentence is marked")] : []));
    sheet.setAttribute("data-page", String(current));
    return found;
  };
  const turn = (by) => {
    current = Math.min(file.numPages, Math.max(1, current + by));
    drawing = drawing.then(draw);
  };
  const resize = (by) => {
    zoom *= by;
    drawing = drawing.then(draw);
  };
  body.replaceChildren(element("div", { class: "page-bar" }, before, status, after, element("span", { class: "zoom" }, smaller, larger)), room);
  current = await pageOf(file, current, quote);
  const found = await draw();
  if (found) marks.firstElementChild.scrollIntoView({ block: "center", inline: "start" });
  else if (quote) body.insertBefore(element("blockquote", { class: "unmarked" }, quote), room);
}

/** The first page from `first` on that has a quote, or `first`: a passage may begin pages before its sentence. */
async function pageOf(file, first, quote) {
  for (let number = first; quote && number <= Math.min(first + MOST_AHEAD, file.numPages); number++) {
    const { items } = await (await file.getPage(number)).getTextContent();
    if (stretchesOf(items.map((one) => one.str), quote).length) return number;
  }
  return first;
}

/** Draw what a pen would: a stroke over each line of the quote. False where it was not found. */
function mark(sheet, marks, text, quote) {
  const origin = sheet.getBoundingClientRect();
  for (const { item, from, to } of stretchesOf(text.textContentItemsStr, quote)) {
    const node = text.textDivs[item].firstChild;
    if (!node) continue;
    const range = document.createRange();
    range.setStart(node, Math.min(from, node.length));
    range.setEnd(node, Math.min(to, node.length));
    for (const line of range.getClientRects()) {
      const stroke = element("div", { class: "pdf-mark" });
      for (const [name, value] of [["left", line.left - origin.left], ["top", line.top - origin.top], ["width", line.width], ["height", line.height]]) {
        stroke.style.setProperty(name, `${value}px`);
      }
      marks.append(stroke);
    }
  }
  return marks.childElementCount > 0;
}
