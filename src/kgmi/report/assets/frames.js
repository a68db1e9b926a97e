// The heads' attention along the epochs, as bytes; see kgmi.report.frames for how they are laid out.

function readFrames(view) {
  const told = view.frames;
  const text = atob(told.data);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  const bins = told.n_bins;
  const diagonal = told.per_bin > 1 ? 1 : 0;
  const cells = told.triangle ? (bins * (bins - 1)) / 2 + diagonal * bins : bins * bins;
  const place = told.triangle
    ? (child, candidate) =>
      (candidate < child + diagonal ? (child * (child - 1)) / 2 + diagonal * child + candidate : -1)
    : (child, candidate) => child * bins + candidate;
  return {
    bins,
    perBin: told.per_bin,
    epochs: told.epochs,
    count: told.epochs.length,
    known: told.known,
    // Attention of a cell, from 0 to 1, between two frames where «at» is no whole number; -1 where no cell is.
    level(at, head, child, candidate) {
      const cell = place(child, candidate);
      if (cell < 0) return -1;
      const first = Math.floor(at);
      const rest = at - first;
      const offset = (frame) => (frame * view.n_heads + head) * cells + cell;
      const low = bytes[offset(first)];
      return (rest ? low + (bytes[offset(first + 1)] - low) * rest : low) / 255;
    },
    // Whether all heads attend alike at the end, as they do where nothing tells them apart.
    collapsed() {
      if (view.n_heads < 2 || !view.n_edges) return false;
      const start = (told.epochs.length - 1) * view.n_heads * cells;
      for (let cell = 0; cell < cells; cell += 1) {
        for (let head = 1; head < view.n_heads; head += 1) {
          if (Math.abs(bytes[start + head * cells + cell] - bytes[start + cell]) > 1) return false;
        }
      }
      return true;
    },
  };
}

// The names that a bin stands for.
function binName(view, frames, bin) {
  const first = bin * frames.perBin;
  const last = Math.min(first + frames.perBin, view.n_nodes) - 1;
  return first === last ? visible(view.names[first]) : visible(view.names[first]) + " … " + visible(view.names[last]);
}
