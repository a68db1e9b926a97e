// Step 1: examples and files; and the look at the table that was chosen.

import { ask, byId, complain, counted, el, say, shown, Trouble } from "./talk.js";

const SHOWN_COLUMNS = 60; // that can be left out one by one

// Draws the examples; «choose» is called with an example.
export function drawExamples(examples, choose) {
  byId("examples").replaceChildren(...examples.map((example) => el("li", {},
    el("button", { type: "button", class: "example", "data-key": example.key, "aria-pressed": "false",
      onclick: () => choose(example) },
    el("strong", {}, example.title), el("span", {}, example.story)))));
}

export function markExample(key) {
  for (const button of document.querySelectorAll(".example")) {
    button.setAttribute("aria-pressed", String(button.dataset.key === key));
  }
}

// Watches the field and the place where files are dropped.
export function watchFiles(limits, send) {
  const drop = byId("drop");
  byId("upload-limit").textContent = ", up to " + limits.upload;
  byId("file").addEventListener("change", (event) => {
    if (event.target.files.length) send(event.target.files[0]);
    event.target.value = ""; // the same file may be chosen again
  });
  const over = (on) => (event) => {
    event.preventDefault();
    drop.classList.toggle("over", on);
  };
  // The whole page takes files: one that misses the place would leave the page otherwise.
  document.addEventListener("dragover", over(true));
  document.addEventListener("dragleave", over(false));
  document.addEventListener("drop", (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

export async function upload(file, limits) {
  if (file.size > limits.upload_bytes) {
    throw new Trouble(file.name + " is larger than " + limits.upload + ", the most that may be sent here.",
      "Learn it on the command line (kgmi learn), or start kgmi serve with a larger --upload-limit.");
  }
  if (file.size === 0) throw new Trouble(file.name + " is empty.", "Choose a table with names and rows.");
  return ask("/api/tables?name=" + encodeURIComponent(file.name.slice(-200)), { method: "POST", body: file });
}

export function drawWaiting(name) {
  byId("table").replaceChildren(el("div", { class: "card" }, el("h2", {}, name),
    el("p", { class: "hint" }, el("span", { class: "spin", "aria-hidden": "true" }), " Reading the table …")));
  say("Reading " + name);
}

export function drawNothing() {
  byId("table").replaceChildren();
}

// Draws the table: how it begins, what preparing it does, and its columns, which can be left out.
export function drawTable(table, prepared) {
  const offer = prepared ? table.prepared : table.as_it_is;
  const size = (table.n_rows ? counted(table.n_rows, "row") + ", " : "") + counted(table.n_columns, "column");
  byId("table").replaceChildren(el("div", { class: "card" },
    el("h2", {}, "The table ", el("span", { class: "hint" }, table.name + ": " + size)),
    firstRows(table),
    table.n_columns > table.names.length ? el("p", { class: "hint" }, "The first " + table.names.length + " columns are shown.") : null,
    el("div", { id: "offer" }, ...offerParts(offer, prepared))));
  complain(null);
  say(table.name + ": " + size);
}

function firstRows(table) {
  if (!table.names.length) return null;
  const head = el("tr", {}, ...table.names.map((name) => el("th", { scope: "col" }, name)));
  const rows = table.rows.map((row) => el("tr", {}, ...row.map((cell) =>
    (cell === "" ? el("td", { class: "gap" }, "–") : el("td", {}, cell)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "First rows of the table" },
    el("table", { class: "data" }, el("caption", { class: "quiet" }, "First rows of the table"),
      el("thead", {}, head), el("tbody", {}, ...rows)));
}

function offerParts(offer, prepared) {
  if (offer.failure) {
    return [el("div", { class: "bad" }, el("p", {}, el("strong", {}, offer.failure.error)),
      offer.failure.advice ? el("p", {}, offer.failure.advice) : null,
      prepared ? null : el("p", {}, "«Make the table fit for learning» in step 2 may help."))];
  }
  const notes = offer.notes.length
    ? [el("h3", {}, "What is done to it first"), el("ul", { class: "notes" }, ...offer.notes.map((note) => el("li", {}, note)))]
    : [el("p", { class: "hint" }, "It can be learned from as it is.")];
  return [...notes, columnPart(offer)];
}

function columnPart(offer) {
  const few = offer.columns.length <= SHOWN_COLUMNS;
  const list = el("ul", { class: "chips" }, ...offer.columns.slice(0, SHOWN_COLUMNS).map(chip));
  return el("details", { open: offer.columns.length <= 12 },
    el("summary", {}, counted(offer.columns.length, "column") + " to learn from" + (few ? ": untick what to leave out" : "")),
    list, few ? null : el("p", { class: "hint" }, "and " + shown(offer.columns.length - SHOWN_COLUMNS) + " more"));
}

function chip(column) {
  const states = column.states.join(", ") + (column.n_states > column.states.length ? ", …" : "");
  const gaps = column.n_missing ? ", " + shown(column.n_missing) + " missing" : "";
  return el("li", {}, el("label", {},
    el("input", { type: "checkbox", name: "use", value: column.name, checked: true }),
    el("span", {}, el("strong", {}, column.name), " ",
      el("span", { class: "hint" }, counted(column.n_states, "state") + ": " + states + gaps))));
}

export function leftOut() {
  return [...document.querySelectorAll("input[name=use]")].filter((box) => !box.checked).map((box) => box.value);
}
