// The objective along the epochs, with a mark that moves with the player.

function objectiveCurve(view, epochs) {
  const { training } = view;
  if (!training) return null;
  const svg = svgEl("svg", { class: "kgmi-curve", width: "100%", height: 136, role: "img",
    "aria-label": "Objective along the epochs, from " + shownScore(training.objective[0]) + " to " +
      shownScore(training.objective[training.objective.length - 1]) + "; at best " + shownScore(training.best) });
  const last = training.epochs[training.epochs.length - 1];
  const low = Math.min(...training.objective);
  const high = Math.max(training.best, ...training.objective);
  // Long runs are told on a log scale, as the trace is.
  const across = (epoch) => (last > 100 ? Math.log1p(epoch) / Math.log1p(last) : epoch / Math.max(last, 1));
  const dot = svgEl("circle", { r: 5, class: "kgmi-now" });
  let at = 0;
  let scale = null;

  function draw() {
    const width = svg.getBoundingClientRect().width;
    if (!width) return;
    svg.setAttribute("viewBox", "0 0 " + width.toFixed(1) + " 136");
    const left = 58;
    scale = (epoch, value) => [left + across(epoch) * (width - left - 12),
      112 - ((value - low) / Math.max(high - low, 1e-12)) * 80];
    const points = training.epochs.map((epoch, k) => scale(epoch, training.objective[k]).map((v) => v.toFixed(1)).join(","));
    const best = scale(0, training.best)[1];
    const floor = scale(0, low)[1];
    svg.replaceChildren(
      svgEl("line", { x1: left, x2: width - 12, y1: best, y2: best, class: "kgmi-best" }),
      svgEl("text", { x: left - 6, y: best, dy: "0.35em", "text-anchor": "end" }, shownScore(training.best)),
      svgEl("text", { x: left - 6, y: floor, dy: "0.35em", "text-anchor": "end" }, shownScore(low)),
      svgEl("text", { x: left, y: 129 }, "epoch 0"),
      svgEl("text", { x: width - 12, y: 129, "text-anchor": "end" }, "epoch " + grouped.format(last)),
      svgEl("text", { x: left, y: 12 }, "objective" + (view.unit ? " (" + view.unit + ")" : "") + "; dashed: at best"),
      svgEl("polyline", { points: points.join(" "), class: "kgmi-way" }),
      dot);
    seek(at);
  }

  function seek(frame) {
    at = frame;
    if (!scale) return;
    const epoch = between(epochs, frame);
    const [x, y] = scale(epoch, valueAt(training, epoch));
    dot.setAttribute("cx", x.toFixed(1));
    dot.setAttribute("cy", y.toFixed(1));
  }

  return { svg, draw, seek };
}

// An entry of a list at a place that need not be whole.
function between(list, at) {
  const first = Math.floor(at);
  const rest = at - first;
  return rest ? list[first] + (list[first + 1] - list[first]) * rest : list[first];
}

// The objective at an epoch, straight between those that were kept.
function valueAt(training, epoch) {
  let after = training.epochs.findIndex((each) => each >= epoch);
  if (after < 0) after = training.epochs.length - 1;
  if (after === 0) return training.objective[0];
  const [e0, e1] = [training.epochs[after - 1], training.epochs[after]];
  const part = (epoch - e0) / Math.max(e1 - e0, 1e-12);
  return training.objective[after - 1] + (training.objective[after] - training.objective[after - 1]) * part;
}
