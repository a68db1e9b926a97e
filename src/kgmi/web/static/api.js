// The list of addresses, made from /openapi.json, without scripts of others.

import { ask, byId, el } from "./talk.js";

function shownType(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(shownType).filter(Boolean).join(" or ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.const !== undefined) return String(schema.const);
  if (schema.type === "array") return "list of " + shownType(schema.items);
  return schema.type === "null" ? "nothing" : schema.type || "";
}

const rows = (cells) => el("tr", {}, el("th", { scope: "row" }, cells[0]), ...cells.slice(1).map((cell) => el("td", {}, cell)));

function fields(title, list) {
  if (!list.length) return [];
  return [el("h3", {}, title), el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "data" }, el("tbody", {}, ...list.map(rows))))];
}

function bodyFields(all, body) {
  const content = body && Object.entries(body.content)[0];
  if (!content) return [];
  const [kind, { schema }] = content;
  if (!schema.$ref) return fields("Body: " + kind, [["", body.description || "", ""]]);
  const model = all.components.schemas[shownType(schema)];
  const list = Object.entries(model.properties).map(([name, one]) => [name, shownType(one) + (one.default !== undefined && one.default !== null ? ", by default " + JSON.stringify(one.default) : ""), one.description || ""]);
  const example = model.examples ? [el("p", {}, "Example:"), el("pre", { tabindex: "0" }, JSON.stringify(model.examples[0]))] : [];
  return [...fields("Body: " + kind, list), ...example];
}

function entry(all, path, method, one) {
  const asked = (one.parameters || []).map((part) => [part.name, part.in + ", " + shownType(part.schema), part.description || ""]);
  const answers = Object.entries(one.responses).map(([code, part]) => [code, part.description, ""]);
  const [first, ...rest] = (one.description || "").split("\n\n");
  return el("details", { class: "card" },
    el("summary", {}, el("span", { class: "way" }, el("b", {}, method.toUpperCase()), path), el("p", { class: "hint" }, first)),
    ...rest.map((text) => el("p", {}, text)),
    ...fields("Asked for with", asked), ...bodyFields(all, one.requestBody), ...fields("Answers", answers));
}

const all = await ask("/openapi.json");
byId("about").textContent = all.info.description;
for (const tag of all.tags) {
  byId("list").append(el("h2", {}, tag.name, el("span", { class: "hint" }, " " + tag.description)));
  for (const [path, methods] of Object.entries(all.paths)) {
    for (const [method, one] of Object.entries(methods)) {
      if ((one.tags || []).includes(tag.name)) byId("list").append(entry(all, path, method, one));
    }
  }
}
