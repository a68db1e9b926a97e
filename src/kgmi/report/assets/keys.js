// What mouse and keyboard do in the graph.

function watchGraph(one) {
  const { view, parts, state, camera, nodes, select, goTo, rove, bringIntoSight, setLayout } = one;
  parts.layouts.forEach((button) => button.addEventListener("click", () => setLayout(button.dataset.layout)));
  parts.zooms.forEach((button) => button.addEventListener("click", () => {
    const factor = Number(button.dataset.zoom);
    if (factor) camera.zoom(factor);
    else camera.reset();
  }));
  parts.svg.addEventListener("click", (event) => {
    if (camera.dragged()) return;
    const node = nearest(view, parts, state, camera, event);
    if (node === null) select(null);
    else goTo(node);
  });
  parts.svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (graphKey(one, event.key)) event.preventDefault();
  });
  parts.nodeLayer.addEventListener("focusin", (event) => {
    const group = event.target.closest("[data-node]");
    if (!group) return;
    rove(Number(group.dataset.node));
    bringIntoSight(Number(group.dataset.node));
  });
  if (parts.search) watchSearch(parts.search.input, view, goTo);
  return nodes;
}

// The node under the pointer, or the nearest one that a finger may have meant.
function nearest(view, parts, state, camera, event) {
  const group = event.target.closest ? event.target.closest("[data-node]") : null;
  if (group) return Number(group.dataset.node);
  const box = parts.svg.getBoundingClientRect();
  let best = null;
  let least = 16;
  positions(view, state, camera, box).forEach(([x, y], node) => {
    const far = Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top));
    if (far < least) [best, least] = [node, far];
  });
  return best;
}

// Does what a key says; false where it says nothing.
function graphKey(one, key) {
  const { view, state, camera, incoming, nodes, select } = one;
  const last = view.n_nodes - 1;
  const here = state.focused;
  const target = {
    ArrowRight: Math.min(here + 1, last),
    ArrowLeft: Math.max(here - 1, 0),
    ArrowUp: view.nodes[here].parents.length ? view.nodes[here].parents[0] : here,
    ArrowDown: incoming.children[here].length ? incoming.children[here][0] : here,
    Home: 0,
    End: last,
  }[key];
  if (target !== undefined) nodes[target].group.focus({ preventScroll: true });
  else if (key === "Enter" || key === " ") select(here);
  else if (key === "Escape") select(null);
  else if (key === "+" || key === "=") camera.zoom(1.4);
  else if (key === "-" || key === "_") camera.zoom(1 / 1.4);
  else if (key === "0") camera.reset();
  else return false;
  return true;
}

// The whole name, or else the first that begins with what was typed, or contains it.
function watchSearch(input, view, goTo) {
  const lower = view.names.map((name) => name.toLowerCase());
  const find = (strict) => {
    const asked = input.value.trim().toLowerCase();
    if (!asked) return;
    let found = lower.indexOf(asked);
    if (found < 0 && !strict) found = lower.findIndex((name) => name.startsWith(asked));
    if (found < 0 && !strict) found = lower.findIndex((name) => name.includes(asked));
    input.setCustomValidity(found < 0 && !strict ? "There is no such node." : "");
    if (found < 0 && !strict) input.reportValidity();
    if (found >= 0) goTo(found);
  };
  input.addEventListener("input", (event) => {
    input.setCustomValidity("");
    // A name picked from the list comes without single letters; letters are typed on, Enter ends them.
    if (event.inputType === "insertReplacementText" || event.inputType === undefined) find(true);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    find(false);
  });
}
