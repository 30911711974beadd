// The API as openapi.json describes it: every operation with its parameters, its body and its replies.

import { BASE } from "./api.js";
import { element } from "./dom.js";
import { applyTheme } from "./state.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

applyTheme();
const described = await (await fetch(new URL("openapi.json", BASE))).json();
const groups = new Map();
for (const [path, operations] of Object.entries(described.paths)) {
  for (const method of METHODS.filter((one) => operations[one])) {
    const [tag = "other"] = operations[method].tags ?? [];
    groups.set(tag, [...(groups.get(tag) ?? []), card(method, path, operations[method])]);
  }
}
document.getElementById("main").replaceChildren(element("div", { class: "view" },
  element("h1", {}, `${described.info.title} ${described.info.version}: the API`),
  element("p", { class: "lead" }, described.info.description),
  element("p", { class: "hint" }, "With a key: ", element("code", {}, "Authorization: Bearer KEY"), ". For programs: ", element("a", { href: new URL("openapi.json", BASE).href }, "openapi.json"), "."),
  [...groups].map(([tag, cards]) => element("section", {}, element("h2", {}, tag), cards))));

function card(method, path, operation) {
  const body = Object.entries(operation.requestBody?.content ?? {});
  return element("details", {},
    element("summary", {}, element("code", {}, `${method.toUpperCase()} ${path}`), ` ${operation.summary ?? ""}`),
    element("p", {}, operation.description ?? ""),
    rows("Parameters", (operation.parameters ?? []).map((one) => [`${one.name} (${one.in})`, typeOf(one.schema), one.description ?? one.schema.description ?? ""])),
    body.map(([kind, { schema }]) => rows(`Body, ${kind}`, fieldsOf(schema))),
    rows("Replies", Object.entries(operation.responses).map(([status, reply]) => [status, Object.keys(reply.content ?? {}).join(", "), reply.description])));
}

function fieldsOf(schema) {
  const { properties = {}, required = [] } = (schema?.$ref ? described.components.schemas[schema.$ref.split("/").at(-1)] : schema) ?? {};
  return Object.entries(properties).map(([name, one]) => [required.includes(name) ? `${name} (needed)` : name, typeOf(one), one.description ?? ""]);
}

function typeOf(schema) {
  if (schema?.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema?.$ref) return schema.$ref.split("/").at(-1);
  if (schema?.enum) return schema.enum.join(", ");
  return schema?.type === "array" ? `list of ${typeOf(schema.items)}` : schema?.type ?? "";
}

function rows(name, cells) {
  if (!cells.length) return null;
  return element("div", { class: "scrolled grid", tabindex: "0" }, element("table", {}, element("caption", {}, name),
    cells.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))))));
}
