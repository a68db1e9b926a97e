// One head as a heat map on a canvas: a column for each child, a row for each candidate.

function heatMap(view, frames, head, onRead) {
  const canvas = el("canvas", { role: "img", tabindex: "-1" });
  const title = el("figcaption", {}, headKey(head + 1), " head " + (head + 1));
  const figure = el("figure", { class: "kgmi-heat" }, title, canvas);
  const small = document.createElement("canvas");
  small.width = small.height = frames.bins;
  const parents = frames.perBin === 1 ? view.edges : [];
  let at = 0;
  let marked = null;
  let room = null;

  function measure() {
    const width = Math.floor(figure.clientWidth);
    const font = "11px " + FONT;
    const labels = shortNames(view.names, 9);
    const longest = Math.min(labels.reduce((most, text) => Math.max(most, textWidth(text, font)), 0), 70);
    const left = Math.ceil(longest) + 8;
    const cell = Math.max((width - left - 2) / frames.bins, 0.5);
    const step = [1, 2, 5, 10, 20, 50, 100].find((each) => each * cell >= 13) || 200;
    const turned = longest + 6 > cell * step;
    const top = turned ? left : 18;
    room = { width, left, top, cell, step, turned, font, labels, side: cell * frames.bins };
  }

  function paint() {
    if (!figure.clientWidth) return;
    if (!room || room.width !== Math.floor(figure.clientWidth)) measure();
    const dense = window.devicePixelRatio || 1;
    const height = Math.ceil(room.top + room.side + 2);
    if (canvas.width !== Math.round(room.width * dense) || canvas.height !== Math.round(height * dense)) {
      canvas.width = Math.round(room.width * dense);
      canvas.height = Math.round(height * dense);
      canvas.style.width = room.width + "px";
      canvas.style.height = height + "px";
    }
    const look = currentLook();
    const pen = canvas.getContext("2d");
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, room.width, height);
    paintCells(small, frames, head, at, look);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, room.left, room.top, room.side, room.side);
    paintMarks(pen, look);
    paintNames(pen, look);
    canvas.setAttribute("aria-label", "Attention of head " + (head + 1) + ": columns are children, rows are candidates. " +
      "The best candidates of each node are in the panel of the graph.");
  }

  function paintMarks(pen, look) {
    const { left, top, cell, side } = room;
    pen.strokeStyle = look.out;
    pen.lineWidth = 1;
    pen.strokeRect(left - 0.5, top - 0.5, side + 1, side + 1);
    if (marked !== null && !printing) {
      const column = Math.floor(marked / frames.perBin);
      pen.strokeStyle = look.ink;
      pen.strokeRect(left + column * cell, top, cell, side);
    }
    if (cell < 4) return;
    pen.strokeStyle = look.mark;
    pen.lineWidth = cell > 10 ? 1.6 : 1;
    const inset = pen.lineWidth / 2 + 0.5;
    for (const edge of parents) {
      if (edge.head !== head + 1) continue;
      pen.strokeRect(left + edge.child * cell + inset, top + edge.parent * cell + inset, cell - 2 * inset, cell - 2 * inset);
    }
  }

  function paintNames(pen, look) {
    const { left, top, cell, step, turned, font, labels } = room;
    pen.font = font;
    pen.fillStyle = look.faint;
    pen.textBaseline = "middle";
    for (let bin = 0; bin < frames.bins; bin += 1) {
      const node = bin * frames.perBin;
      if ((bin + 1) % step && step > 1) continue;
      const middle = (bin + 0.5) * cell;
      pen.textAlign = "right";
      pen.fillText(labels[node], left - 5, top + middle, left - 6);
      pen.save();
      pen.translate(left + middle, top - 5);
      if (turned) pen.rotate(-Math.PI / 2);
      pen.textAlign = turned ? "left" : "center";
      pen.fillText(labels[node], 0, turned ? 0 : -4, turned ? top - 6 : undefined);
      pen.restore();
    }
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!room) return;
    const box = canvas.getBoundingClientRect();
    const child = Math.floor((event.clientX - box.left - room.left) / room.cell);
    const candidate = Math.floor((event.clientY - box.top - room.top) / room.cell);
    const inside = child >= 0 && candidate >= 0 && child < frames.bins && candidate < frames.bins;
    const level = inside ? frames.level(at, head, child, candidate) : -1;
    onRead(level < 0 ? "" : "head " + (head + 1) + ": child " + binName(view, frames, child) + ", candidate " +
      binName(view, frames, candidate) + ", attention " + shownShare(level));
  });
  canvas.addEventListener("pointerleave", () => onRead(""));

  return {
    figure,
    paint,
    seek(frame) { at = frame; paint(); },
    mark(node) { marked = node; paint(); },
  };
}

function headKey(head) {
  return svgEl("svg", { width: 26, height: 10, "aria-hidden": "true" }, svgEl("line", {
    x1: 1, y1: 5, x2: 25, y2: 5, class: "kgmi-line " + headClass(head), "stroke-dasharray": headDash(head) }));
}

// The cells of a frame, a pixel each, on a small canvas that is then enlarged.
function paintCells(small, frames, head, at, look) {
  const pen = small.getContext("2d");
  const picture = pen.createImageData(frames.bins, frames.bins);
  const ramp = rampOf(look);
  for (let child = 0; child < frames.bins; child += 1) {
    for (let candidate = 0; candidate < frames.bins; candidate += 1) {
      const level = frames.level(at, head, child, candidate);
      if (level < 0) continue; // clear: no candidate comes after its child
      const colour = 3 * Math.round(level * 255);
      const pixel = 4 * (candidate * frames.bins + child);
      picture.data[pixel] = ramp[colour];
      picture.data[pixel + 1] = ramp[colour + 1];
      picture.data[pixel + 2] = ramp[colour + 2];
      picture.data[pixel + 3] = 255;
    }
  }
  pen.putImageData(picture, 0, 0);
}
