// Elements without markup as text: nothing that came from a document or a model is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `on…` are listeners, `class` and other names attributes; null and false leave an attribute out. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Say something to a screen reader; shown to nobody. */
export function tell(text) {
  const told = document.getElementById("told");
  told.textContent = "";
  told.append(text);
}

const ICONS = {
  close: "M5 5l10 10M15 5L5 15",
  up: "M7 9v8H4V9zM7 9l3-6c1.5 0 2.2 1 2 2.5L11.5 8H16c1 0 1.6.9 1.3 1.900l-1.8 6c-.2.7-.8 1.1-1.5 1.1H7",
  down: "M13 11V3h3v8zM13 11l-3 6c-1.5 0-2.2-1-2-2.5L8.5 12H4c-1 0-1.6-.9-1.3-1.900l1.8-6C4.7 3.4 5.3 3 6 3h7",
  send: "M4 10h11M10.5 5.5L15 10l-4.5 4.5",
  open: "M8 4H4v12h12v-4M11 4h5v5M16 4l-7 7",
  search: "M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM13.5 13.5L17 17",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6",
  again: "M16 10a6 6 0 1 1-2-4.5M14.5 2v4h-4",
  file: "M6 3h6l3 3v11H6zM12 3v3h3",
  minus: "M5 10h10",
  plus: "M5 10h10M10 5v10",
  left: "M12 5l-5 5 5 5",
  right: "M8 5l5 5-5 5",
};

/** A small picture that says nothing by itself. */
export function icon(name) {
  return drawn("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" }, drawn("path", { d: ICONS[name] }));
}

/** A button with a picture and a name. */
export function iconButton(name, label, onclick, attributes = {}) {
  return element("button", { type: "button", class: "quiet icon-only", "aria-label": label, title: label, onclick, ...attributes }, icon(name));
}
