// What was found: of one job in full, of several side by side with their differences in words.

import { ask, byId, counted, el, shown } from "./talk.js";
import { GUIDE_NAMES } from "./form.js";

const LEVELS = { high: ["✓", "Trust it far"], fair: ["≈", "Trust it in part"], low: ["!", "Trust it little"] };
const FORMATS = {
  json: "JSON", csv: "CSV (edges)", graphml: "GraphML", dot: "DOT (Graphviz)", bif: "BIF (Bayesian network)", dagitty: "DAGitty",
};
const MANY = 40; // rows of the table of parents that are open at once

let drawn = []; // views that are on the page, to be ended when others take their place

export function clearResult() {
  drawn.forEach((view) => view.destroy());
  drawn = [];
  byId("result").replaceChildren();
  byId("result").hidden = true;
}

export async function showRun(jobs) {
  const found = await Promise.all(jobs.map(async (job) => ({ job, result: await ask("/api/jobs/" + job.id + "/result") })));
  const compared = found.length > 1 ? await ask("/api/compare?" + jobs.map((job) => "job=" + job.id).join("&")) : null;
  clearResult();
  const place = byId("result");
  place.hidden = false;
  if (compared) showSeveral(place, found, compared);
  else showOne(place, found[0]);
  byId("main").focus({ preventScroll: true });
  place.scrollIntoView({ block: "start", behavior: "instant" });
}

function showOne(place, { job, result }) {
  const { view } = result;
  const body = el("div", { class: "card" });
  body.append(
    el("h2", {}, job.name, el("span", { class: "hint" }, " " + view.summary)),
    trustBox(view.trust),
    ...sentences([result.truth, result.collapsed ? "" : result.heads]),
    result.collapsed ? el("p", { class: "warn" }, result.heads) : "",
    downloads(job, result));
  place.append(body);
  const drawing = el("div", { class: "card" });
  place.append(drawing);
  drawn.push(window.kgmiView.show(drawing, view, { heading: 2, player: { autoplay: true, start: "end" } }));
  place.append(parentsCard(view), moreCard(view, result));
}

const sentences = (texts) => texts.filter(Boolean).map((text) => el("p", {}, text));

function trustBox(trust) {
  const [sign, words] = LEVELS[trust.level];
  return el("div", { class: "trust " + trust.level },
    el("p", { class: "trust-words" }, el("span", { class: "sign", "aria-hidden": "true" }, sign), el("strong", {}, words)),
    el("p", { class: "trust-sentence" }, trust.sentence),
    el("details", {}, el("summary", {}, "Why"),
      el("ul", { class: "reasons" }, ...trust.reasons.map((reason) => el("li", { class: reason.supports ? "for" : "against" },
        el("span", { class: "sign", "aria-hidden": "true" }, reason.supports ? "+" : "−"),
        el("span", { class: "quiet" }, reason.supports ? "For it: " : "Against it: "), reason.text)))));
}

function downloads(job, result) {
  const base = "/api/jobs/" + job.id;
  const kinds = Object.entries(FORMATS).filter(([kind]) => result.exports[kind] === "");
  const refused = Object.entries(result.exports).filter(([, reason]) => reason);
  return el("div", { class: "downloads" },
    el("a", { class: "button", href: base + "/report", target: "_blank", rel: "noopener" }, "Open report"),
    el("a", { class: "button", href: base + "/report?download=true", download: true }, "Save report"),
    el("details", { class: "menu" }, el("summary", { class: "button" }, "Save graph as …"),
      el("ul", {}, ...kinds.map(([kind, name]) => el("li", {}, el("a", { href: base + "/graph/" + kind, download: true }, name))),
        ...refused.map(([kind, reason]) => el("li", { class: "hint" }, FORMATS[kind] + ": " + reason)))),
    el("a", { class: "button", href: base + "/record", download: true }, "Save record (zip)"));
}

function parentsCard(view) {
  const rows = view.names.map((name, node) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, parentsOf(view, node)),
    el("td", { class: "numbers" }, strengthOf(view, node))));
  const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Parents of every column" },
    el("table", { class: "data" }, el("caption", { class: "quiet" }, "Parents of every column"),
      el("thead", {}, el("tr", {}, ...["Column", "Parents", "How sure"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows)));
  return el("details", { class: "card", open: view.n_nodes <= MANY },
    el("summary", {}, el("h2", {}, "Parents of every column")), table);
}

function parentsOf(view, node) {
  const one = view.nodes[node];
  if (one.parents.length) return one.parents.map((parent) => view.names[parent]).join(", ");
  if (one.kind === "undecided") return "undecided: its heads are tied or spread";
  return one.with.length ? "none; drawn with " + one.with.map((other) => view.names[other]).join(", ") : "none";
}

function strengthOf(view, node) {
  return view.edges.filter((edge) => edge.child === node).map((edge) => edge.strength).filter(Boolean).join(", ");
}

function moreCard(view, result) {
  const list = (texts) => el("ul", {}, ...texts.map((text) => el("li", {}, text)));
  const part = (title, content) => (content ? [el("h3", {}, title), content] : []);
  const again = view.again || {};
  return el("details", { class: "card" }, el("summary", {}, el("h2", {}, "How it went, and how to run it again")),
    ...part("What was done to the table", result.notes.length ? list(result.notes) : null),
    ...part("How it ended", list(view.status)),
    ...part("Does the model fit?", view.checks.length ? list(view.checks.map((check) => check.question + " " + check.sentence)) : null),
    ...part("On the command line", again.command ? el("pre", { tabindex: "0" }, again.command) : null),
    ...part("In Python", again.python ? el("pre", { tabindex: "0" }, again.python) : null));
}

function showSeveral(place, found, compared) {
  const names = found.map(({ job }) => GUIDE_NAMES[job.fit.guide] || job.fit.guide);
  place.append(el("div", { class: "card" },
    el("h2", {}, "Guides side by side", el("span", { class: "hint" }, " " + found[0].job.name)),
    el("ul", { class: "differences" }, ...compared.sentences.map((text) => el("li", {}, text)))));
  const grid = el("div", { class: "sides" });
  place.append(grid);
  found.forEach(({ job, result }, number) => {
    const side = el("section", { class: "card side-by-side", "aria-label": names[number], "data-guide": job.fit.guide });
    grid.append(side);
    const heads = el("div", {});
    const graph = el("div", {});
    side.append(el("h2", {}, names[number], el("span", { class: "hint" }, " " + counted(result.edges.length, "edge"))),
      el("div", {}, ...sentences([result.truth, result.heads || "There is one head only."])),
      heads, graph,
      el("div", {}, onlyPart(compared.only[job.id]),
        el("div", { class: "downloads" }, el("button", { type: "button", onclick: () => showAlone({ job, result }) }, "Show this one in full"))));
    drawn.push(window.kgmiView.player(heads, result.view, { autoplay: true, start: "end" }),
      window.kgmiView.graph(graph, result.view, { panel: false, height: 340 }));
  });
}

function onlyPart(only) {
  if (!only.length) return el("p", { class: "hint" }, "All of its edges are found by the others too.");
  const listed = only.slice(0, 12).map(([parent, child]) => parent + " → " + child).join(", ");
  return el("p", {}, el("strong", {}, "Not found by all: "), listed + (only.length > 12 ? " and " + shown(only.length - 12) + " more" : ""));
}

function showAlone(one) {
  clearResult();
  byId("result").hidden = false;
  showOne(byId("result"), one);
  byId("result").scrollIntoView({ block: "start" });
}
