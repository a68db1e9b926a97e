// The laboratory: starts a training, asks for its record every half second, and draws curves and attention maps.

import { ask, byId, complain, el, post, say, shown } from "./talk.js";

const PRESETS = {
  "The paper: KG-MI": { model: "paper", objective: "kgmi", optimiser: "gd", rate: 10, steps: 3000 },
  "Head collapse: mutual information": { model: "paper", objective: "mi", optimiser: "gd", rate: 10, steps: 3000 },
  "Full key-query matrix": { model: "paper-full", objective: "kgmi", optimiser: "gd", rate: 100, steps: 600 },
  "Labelled minibatches": { model: "paper", objective: "kgmi-labelled", optimiser: "sgd", rate: 10, steps: 3000 },
  "Decoder, next token": { model: "decoder", objective: "next-token", optimiser: "adam", rate: 0.002, steps: 600 },
};
const CURVES = [
  ["Loss", { loss: "loss" }, { bayes: "Bayes predictor", one_parent: "best single parent" }],
  ["Heads", { parents: "attention on true parents", f1: "F1 of the graph", overlap: "overlap of heads" }, {}],
  ["Gradient", { align_chi2: "cosine with χ²-MI", align_kgmi: "cosine with KG-MI" }, {}],
];
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];
const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [340, 190, 52, 26];
let running = null;

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

function chart(title, steps, lines, levels) {
  const values = [...lines, ...levels].flatMap((line) => line.values).filter((value) => value !== null);
  if (!values.length) return "";
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (high - low < 1e-12) [low, high] = [low - 0.5, high + 0.5];
  const last = Math.max(steps[steps.length - 1], 1);
  const x = (step) => LEFT + (step / last) * (WIDTH - LEFT - 8);
  const y = (value) => 8 + ((high - value) / (high - low)) * (HEIGHT - BOTTOM - 8);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "curve" });
  for (const value of [low, (low + high) / 2, high]) {
    picture.append(svg("line", { x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, value.toPrecision(3)));
  }
  for (const step of [0, last]) {
    picture.append(svg("text", { x: x(step), y: HEIGHT - 8, "text-anchor": step ? "end" : "start" }, shown(step)));
  }
  levels.forEach((level) => picture.append(svg("line", { x1: LEFT, x2: WIDTH - 8, y1: y(level.values[0]),
    y2: y(level.values[0]), stroke: level.colour, "stroke-dasharray": "4 3" })));
  lines.forEach((line) => {
    const points = steps.map((step, k) => [step, line.values[k]]).filter((point) => point[1] !== null);
    picture.append(svg("polyline", { points: points.map(([s, v]) => x(s) + "," + y(v)).join(" "), stroke: line.colour,
      fill: "none", "stroke-width": 1.8 }));
  });
  const legend = el("ul", { class: "chips" }, [...lines, ...levels].map((line) => {
    const mark = svg("svg", { viewBox: "0 0 12 8", width: 12, height: 8, "aria-hidden": "true" },
      svg("rect", { width: 12, height: 4, y: 2, fill: line.colour }));
    return el("li", {}, mark, " " + line.label);
  }));
  return el("div", { class: "card lab-chart" }, el("h2", {}, title), picture, legend);
}

function charts(record) {
  return CURVES.map(([title, measures, floors]) => {
    const lines = Object.entries(measures).filter(([name]) => record.measures[name])
      .map(([name, label], k) => ({ label, colour: COLOURS[k], values: record.measures[name].map((row) => row[0]) }));
    const levels = Object.entries(floors).filter(([name]) => record.floor[name][0] !== null)
      .map(([name, label], k) => ({ label, colour: COLOURS[k + lines.length], values: [record.floor[name][0]] }));
    return chart(title, record.steps, lines, levels);
  });
}

function map(head, number, parents) {
  const size = head.length;
  const side = 200 / size;
  const picture = svg("svg", { viewBox: "-22 -4 226 232", role: "img", class: "curve",
    "aria-label": "Attention of head " + (number + 1) });
  for (let child = 0; child < size; child++) {
    for (let other = 0; other < child; other++) {
      const box = { x: child * side, y: other * side, width: side - 1, height: side - 1 };
      const cell = svg("rect", { ...box, class: "cell", "fill-opacity": head[child][other] });
      cell.append(svg("title", {}, `child ${child + 1}, candidate ${other + 1}: ${head[child][other].toFixed(2)}`));
      picture.append(svg("rect", { ...box, class: "ground" }), cell);
      if (parents[child].includes(other)) picture.append(svg("rect", { ...box, class: "edge" }));
    }
    picture.append(svg("text", { x: (child + 0.5) * side, y: 214, "text-anchor": "middle" }, String(child + 1)),
      svg("text", { x: -4, y: (child + 0.5) * side + 3, "text-anchor": "end" }, String(child + 1)));
  }
  picture.append(svg("text", { x: 100, y: 226, "text-anchor": "middle" }, "child (across), candidate parent (down)"));
  return el("div", { class: "card lab-chart" }, el("h2", {}, "Head " + (number + 1)), picture);
}

function show(training) {
  const record = training.record;
  const steps = record ? record.steps[record.steps.length - 1] : 0;
  const words = { running: "Training: step " + shown(steps) + " of " + shown(training.wanted.steps),
    done: "Done after " + shown(steps) + " steps", cancelled: "Cancelled at step " + shown(steps),
    failed: "It did not work" }[training.state];
  byId("lab-state").replaceChildren(el("p", { class: "phase" }, words));
  say(words);
  if (record) {
    byId("charts").replaceChildren(...charts(record));
    byId("maps").replaceChildren(...record.attention[0].map((head, number) => map(head, number, training.parents)),
      el("p", { class: "hint" }, "Squares mark the true parents."));
  }
  if (training.failure) complain({ message: training.failure.error, advice: training.failure.advice });
}

async function follow(id) {
  for (;;) {
    const training = await ask("/api/lab/" + id);
    show(training);
    if (training.state !== "running") return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function preset(name) {
  for (const [field, value] of Object.entries(PRESETS[name])) byId("lab-form").elements[field].value = value;
}

byId("preset").append(...Object.keys(PRESETS).map((name) => el("option", {}, name)));
byId("preset").addEventListener("change", (event) => preset(event.target.value));
preset(Object.keys(PRESETS)[0]);
byId("stop").addEventListener("click", () => running && post("/api/lab/" + running + "/cancel").catch(complain));
byId("lab-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  complain(null);
  const wanted = Object.fromEntries(new FormData(event.target));
  for (const name of ["rate", "steps", "seed"]) wanted[name] = Number(wanted[name]);
  byId("train").disabled = true;
  byId("stop").hidden = false;
  try {
    const training = await post("/api/lab", wanted);
    running = training.id;
    await follow(running);
  } catch (trouble) {
    complain(trouble);
  }
  byId("train").disabled = false;
  byId("stop").hidden = true;
});
