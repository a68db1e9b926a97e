// Step 2: the settings, in plain words; what does not matter for the choice at hand is hidden.

import { byId, el } from "./talk.js";

const GUIDES = [
  ["likelihood", "Likelihood", "Needs nothing but the table. The best choice for your own data."],
  ["contextual", "Contextual", "Heads guided by mutual information, each given the other's parent."],
  ["stationary", "KG-MI, as in the paper", "Each head is guided by its part of a known kernel."],
  ["plain", "Plain mutual information", "All heads are guided alike; see how they collapse."],
];
export const GUIDE_NAMES = Object.fromEntries(GUIDES.map(([key, name]) => [key, name]));
const PAPERS = ["stationary", "uniform", "plain"]; // a divergence matters to these
const MOST = 3; // guides at a time
const DIVERGENCES = [
  ["", "Kullback–Leibler (KL)"], ["pearson", "Pearson χ²"], ["hellinger-matched", "Hellinger, matched"],
  ["hellinger", "Hellinger, as written"], ["neyman-matched", "Neyman χ², matched"],
  ["reverse-kl-matched", "Reverse KL, matched"], ["jensen-shannon-matched", "Jensen–Shannon, matched"],
  ["total-variation", "Total variation"],
];

function select(name, label, options, hint) {
  const id = "set-" + name;
  return el("div", { class: "field", id: id + "-field" },
    el("label", { for: id }, label),
    el("select", { id, name, "aria-describedby": hint ? id + "-hint" : null },
      ...options.map(([value, text]) => el("option", { value }, text))),
    hint ? el("p", { class: "hint", id: id + "-hint" }, hint) : null);
}

function choice(type, name, value, label, hint, checked) {
  return el("label", { class: "choice" }, el("input", { type, name, value, checked }),
    el("span", {}, el("strong", {}, label), hint ? el("span", { class: "hint" }, " " + hint) : null,
      type === "checkbox" ? el("em", { class: "why" }) : null));
}

const known = { kernel: true, shared: true }; // of the table that is chosen

// Tells the form what is known of the table.
export function knowing(kernel, shared) {
  Object.assign(known, { kernel, shared });
  refresh();
}

export function drawForm(changed) {
  const numbers = [1, 2, 3, 4, 5, 6].map((number) => [String(number), String(number)]);
  byId("settings").replaceChildren(
    select("parents", "Most parents of a column: others that it depends on directly", numbers),
    el("fieldset", {}, el("legend", {}, "Do columns stand in order, parents before children?"),
      choice("radio", "order", "given", "Yes,", "only columns further left can be parents", true),
      choice("radio", "order", "learn", "No or not known:", "find the order too (takes longer)")),
    choice("checkbox", "prepare", "yes", "Make the table fit for learning:", "cut measurements into bins, leave out identifiers, join rare values", true),
    el("fieldset", { id: "guides" }, el("legend", {}, "What guides the heads? ", el("span", { class: "hint" }, "Tick two or three to compare them.")),
      ...GUIDES.map(([key, name, hint], place) => choice("checkbox", "guide", key, name + ".", hint, place === 0))),
    select("divergence", "Divergence", DIVERGENCES, "How far two laws are apart; KL and the matched ones guide heads properly."),
    advanced());
  byId("set-parents").value = "2";
  byId("steps").addEventListener("change", (event) => {
    keepOne(event.target);
    refresh();
    changed(event.target.name);
  });
  refresh();
}

function advanced() {
  return el("details", { class: "advanced" }, el("summary", {}, "More settings"),
    select("kernel", "Known kernel (for KG-MI)", [["", "that of the example, if it has one"], ["paper", "the paper's"], ["mendelian", "Mendel's law (genotypes 0, 1, 2)"]]),
    select("missing", "Missing values, where the table is not prepared", [["", "are an error"], ["pairwise", "are left out of counts"], ["category", "are one more state"]]),
    select("alphabet", "States", [["auto", "shared where values agree"], ["shared", "the same in all columns"], ["own", "each column has its own"]]),
    select("in_degree", "Number of parents", [["", "as usual for the guide"], ["mixed", "from none to the most"], ["uniform", "none or exactly so many"]]),
    select("share", "Columns with as many parents", [["auto", "share a law where that describes them best"], ["shared", "share one law"], ["classes", "share it in classes"], ["node", "have a law each"]]),
    select("penalty", "Price of parameters", [["nml", "normalised maximum likelihood"], ["bic", "BIC (cautious)"], ["aic", "AIC"], ["none", "none"]]),
    el("div", { class: "field" }, el("label", { for: "set-windows" }, "One long sequence: look so many positions back"),
      el("input", { id: "set-windows", name: "windows", type: "number", min: "2", max: "60", placeholder: "no sequence", "aria-describedby": "windows-hint" }),
      el("p", { class: "hint", id: "windows-hint" }, "For a table of one column; which lags matter is learned.")));
}

const boxes = () => [...document.querySelectorAll("input[name=guide]")];

export function guides() {
  return boxes().filter((box) => box.checked).map((box) => box.value);
}

// At least one guide is ticked, and no more than fit beside each other.
function keepOne(target) {
  if (target.name !== "guide") return;
  if (!guides().length || guides().length > MOST) target.checked = !target.checked;
}

// Why a guide cannot be used as things stand; empty where it can.
function obstacle(guide) {
  if (guide === "likelihood") return "";
  if (radio("order", "learn").checked) return "Needs the order of the columns.";
  if (byId("set-windows").value && PAPERS.includes(guide)) return "Not for sequences.";
  if (guide === "stationary" && !known.kernel && !byId("set-kernel").value) return "No kernel is known of this table; say which under «More settings».";
  if (guide === "contextual" && !known.shared) return "Needs the same states in all columns.";
  return "";
}

function refresh() {
  for (const box of boxes()) {
    const full = !box.checked && guides().length >= MOST;
    const why = obstacle(box.value) || (full ? `${MOST} are compared at most; untick one first.` : "");
    box.disabled = Boolean(why);
    if (why) box.checked = false;
    box.parentNode.querySelector(".why").textContent = why;
  }
  if (!guides().length) boxes()[0].checked = true;
  const chosen = guides();
  byId("set-divergence-field").hidden = !chosen.some((guide) => PAPERS.includes(guide));
  byId("learn").textContent = chosen.length > 1 ? "Learn with " + chosen.length + " guides and compare" : "Learn the graph";
}

const radio = (name, value) => document.querySelector(`input[name=${name}][value=${value}]`);

export const isPrepared = () => radio("prepare", "yes").checked;

// Sets the form to what suits a table.
export function suggest(suggested, fresh) {
  if (fresh) {
    for (const [name, value] of Object.entries({ parents: "2", kernel: "", windows: "", missing: "", alphabet: "auto", in_degree: "", share: "auto", penalty: "nml", divergence: "" })) byId("set-" + name).value = value;
    radio("order", "given").checked = true;
    radio("prepare", "yes").checked = true;
    for (const box of boxes()) box.checked = box.value === "likelihood";
  }
  if (suggested.parents) byId("set-parents").value = String(suggested.parents);
  if (suggested.order) radio("order", suggested.order).checked = true;
  if (suggested.windows) byId("set-windows").value = String(suggested.windows);
  if (suggested.prepare === false) radio("prepare", "yes").checked = false;
  if (suggested.compare) for (const box of boxes()) box.checked = suggested.compare.includes(box.value);
  document.querySelector(".advanced").open = Boolean(suggested.windows);
  refresh();
}

// The jobs that the form asks for, one for each guide.
export function wanted(table, tab, leaveOut) {
  const value = (name) => byId("set-" + name).value;
  return guides().map((guide) => {
    const searches = !PAPERS.includes(guide);
    const fit = { table, tab, guide, parents: Number(value("parents")), prepare: isPrepared(), leave_out: leaveOut };
    fit.order = radio("order", "learn").checked ? "learn" : "given";
    if (value("windows")) fit.windows = Number(value("windows"));
    for (const name of ["missing", "alphabet", "in_degree"]) if (value(name)) fit[name] = value(name);
    if (guide === "stationary" && value("kernel")) fit.kernel = value("kernel");
    if (searches) Object.assign(fit, { share: value("share"), penalty: value("penalty") });
    else if (value("divergence")) fit.divergence = value("divergence");
    return fit;
  });
}
