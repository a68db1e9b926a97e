// The player: heat maps of all heads, and a slider that leads from uniform attention to the end.

const RUN = 4500; // milliseconds from the first frame to the last
const STEP = 700; // milliseconds a frame, where people want little motion

function player(container, view, options) {
  const settings = Object.assign({ autoplay: false, start: "end" }, options);
  const frames = readFrames(view);
  const read = el("p", { class: "kgmi-read" });
  const heats = [];
  for (let head = 0; head < view.n_heads; head += 1) heats.push(heatMap(view, frames, head, (text) => tellCell(text)));
  const curve = objectiveCurve(view, frames.epochs);
  const controls = playerControls(view, frames);
  const { slider, button } = controls;
  const root = el("div", { class: "kgmi-view kgmi-player" },
    frames.count > 1 ? controls.root : null,
    el("div", { class: "kgmi-heats" }, ...heats.map((heat) => heat.figure)),
    read,
    curve && frames.known ? curve.svg : null,
    ...playerNotes(view, frames));
  container.append(root);
  const last = frames.count - 1;
  let at = settings.start === "start" ? 0 : last;
  let running = 0;

  function tellCell(text) {
    read.textContent = text || tellEpoch(view, frames, at);
  }

  // The slider shows the nearest frame; the pictures may stand between two.
  function show(place) {
    at = clamp(place, 0, last);
    slider.value = String(Math.round(at));
    slider.setAttribute("aria-valuetext", shownEpoch(frames, at));
    controls.epoch.textContent = shownEpoch(frames, at);
    heats.forEach((heat) => heat.seek(at));
    if (curve) curve.seek(at);
    tellCell("");
    if (settings.onFrame) settings.onFrame(at, last);
  }

  function pause() {
    cancelAnimationFrame(running);
    running = 0;
    button.textContent = "▶ Play";
    button.setAttribute("aria-label", "Play from uniform to concentrated attention");
  }

  function play() {
    if (last < 1) return;
    const from = at >= last ? 0 : at;
    let begun = null;
    button.textContent = "❚❚ Pause";
    button.setAttribute("aria-label", "Pause");
    const step = (now) => {
      if (begun === null) begun = now;
      const gone = (now - begun) / (calm() ? STEP : RUN / last);
      show(from + (calm() ? Math.floor(gone) : gone));
      if (at >= last) pause();
      else running = requestAnimationFrame(step);
    };
    cancelAnimationFrame(running);
    running = requestAnimationFrame(step);
  }

  button.addEventListener("click", () => (running ? pause() : play()));
  slider.addEventListener("input", () => { pause(); show(Number(slider.value)); });
  const paint = onceAFrame(() => {
    heats.forEach((heat) => heat.paint());
    if (curve) curve.draw();
  });
  const stops = [onResize(root, paint), onLook(() => { heats.forEach((heat) => heat.paint()); })];
  pause();
  show(at);
  if (curve) curve.draw();
  if (settings.autoplay && !calm()) { show(0); play(); }
  return {
    element: root,
    last,
    seek(place) { pause(); show(place); },
    play,
    pause,
    mark(node) { heats.forEach((heat) => heat.mark(node)); },
    destroy() {
      pause();
      paint.stop();
      stops.forEach((stop) => stop());
      root.remove();
    },
  };
}

function playerControls(view, frames) {
  const button = el("button", { type: "button", class: "kgmi-play" });
  const slider = el("input", { type: "range", min: 0, max: frames.count - 1, step: 1, value: 0,
    "aria-label": "Epoch of the training" });
  const epoch = el("output", { class: "kgmi-epoch" });
  const scale = el("span", { class: "kgmi-scale" }, "attention 0 ", el("i", { "aria-hidden": "true" }), " 1");
  return { root: el("div", { class: "kgmi-controls" }, button, slider, epoch, scale), button, slider, epoch };
}

function shownEpoch(frames, at) {
  const place = Math.round(at);
  if (!frames.known) return place ? "end" : "start: uniform attention";
  const end = frames.epochs[frames.count - 1];
  return "epoch " + grouped.format(frames.epochs[place]) + " of " + grouped.format(end);
}

// How concentrated the heads are, in words.
function tellEpoch(view, frames, at) {
  if (!frames.known || !view.training) return "";
  const value = valueAt(view.training, between(frames.epochs, at));
  const unit = view.unit ? " " + view.unit : "";
  return shownEpoch(frames, at) + ": objective " + shownScore(value) + unit + ", at best " +
    shownScore(view.training.best) + unit + ".";
}

function playerNotes(view, frames) {
  const notes = [];
  if (frames.collapsed()) {
    notes.push(el("p", { class: "kgmi-warn" }, "The heads have collapsed: all of them show the same map, so they name " +
      "the same parent."));
  }
  if (frames.perBin > 1) {
    notes.push(el("p", { class: "kgmi-hint" }, "Every cell stands for " + frames.perBin + " × " + frames.perBin +
      " pairs of neighbouring nodes and shows the largest attention among them."));
  } else if (view.n_edges) {
    notes.push(el("p", { class: "kgmi-hint" }, "Outlined cells are the parents that a head names."));
  }
  if (!frames.known) {
    notes.push(el("p", { class: "kgmi-hint" }, "The way between start and end was not kept."));
  }
  return notes;
}
