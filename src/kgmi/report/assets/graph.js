// The graph: nodes that can be chosen with the mouse, a finger or the keyboard, and the panel of the chosen one.

const FREE_SEARCH = 30; // nodes up to which one finds them by looking

function graph(container, view, options) {
  const settings = Object.assign({ layout: "layered", panel: true, search: view.n_nodes > FREE_SEARCH }, options);
  const parts = graphParts(view, settings);
  container.append(parts.root);
  const names = shortNames(view.names, PILL.most);
  const widths = names.map((name) => Math.max(textWidth(name, "13px " + FONT) + 2 * PILL.side, PILL.height));
  const incoming = incomingOf(view);
  const state = { layout: settings.layout, chosen: null, focused: 0 };
  const byDegree = view.nodes.map((_, node) => node)
    .sort((a, b) => incoming.degree[b] - incoming.degree[a] || a - b);
  const nodes = makeNodes(parts.nodeLayer, view, names);
  const edges = (view.n_edges > MANY_EDGES ? bundledEdges : singleEdges)(parts.edgeLayer, view);
  const drawn = { view, parts, state, nodes, edges, widths, incoming };
  const draw = onceAFrame(() => drawGraph(drawn, camera, wantedNames()));
  const camera = makeCamera(parts.svg, draw);

  function wantedNames() {
    const near = nearTo(state.chosen);
    return { near: near.length, nodes: near.length ? [...near, ...byDegree.filter((node) => !near.includes(node))] : byDegree };
  }

  function nearTo(node) {
    return node === null ? [] : [node, ...view.nodes[node].parents, ...incoming.children[node]];
  }

  // What was chosen is drawn above the others. An element that is moved loses the focus, so it gets it back.
  function raise(node) {
    const active = document.activeElement;
    for (const one of nearTo(node).reverse()) parts.nodeLayer.append(nodes[one].group);
    if (active !== document.activeElement && parts.nodeLayer.contains(active)) active.focus({ preventScroll: true });
  }

  function select(node, told) {
    const same = state.chosen === node;
    state.chosen = node;
    lightUp(view, nodes, edges, node);
    parts.root.classList.toggle("kgmi-chosen", node !== null);
    if (settings.panel) showPanel(parts.panel, view, incoming, node, goTo);
    if (node !== null) {
      raise(node);
      rove(node);
      bringIntoSight(node);
    }
    draw();
    if (!same && told !== false) {
      parts.live.textContent = node === null ? "No node is chosen." : spoken(view, incoming, node);
      if (settings.onSelect) settings.onSelect(node);
    }
  }

  function goTo(node) {
    select(node);
    nodes[node].group.focus({ preventScroll: true });
  }

  // One node at a time is a tab stop; arrow keys move it.
  function rove(node) {
    nodes[state.focused].group.setAttribute("tabindex", "-1");
    nodes[node].group.setAttribute("tabindex", "0");
    state.focused = node;
  }

  function bringIntoSight(node) {
    const box = parts.svg.getBoundingClientRect();
    const [x, y] = positions(view, state, camera, box)[node];
    const dx = x < 40 ? 40 - x : x > box.width - 40 ? box.width - 40 - x : 0;
    const dy = y < 24 ? 24 - y : y > box.height - 24 ? box.height - 24 - y : 0;
    if (dx || dy) camera.move(dx, dy);
  }

  function setLayout(layout) {
    state.layout = layout;
    for (const button of parts.layouts) button.setAttribute("aria-pressed", String(button.dataset.layout === layout));
    parts.svg.setAttribute("height", Math.round(settings.height || DRAWINGS[layout].height(view)));
    camera.reset();
  }

  watchGraph({ view, parts, state, camera, incoming, nodes, select, goTo, rove, bringIntoSight, setLayout });
  const stops = [onResize(parts.stage, draw), onLook(() => { if (printing) camera.reset(); draw.now(); })];
  setLayout(state.layout);
  select(settings.selected === undefined ? null : settings.selected, false);
  return {
    element: parts.root,
    select,
    setLayout,
    zoom: camera.zoom,
    reset: camera.reset,
    destroy() {
      stops.forEach((stop) => stop());
      draw.stop();
      parts.root.remove();
    },
  };
}

// Children of every node, edges that arrive at it, and how many neighbours it has.
function incomingOf(view) {
  const children = view.nodes.map(() => []);
  const arrive = view.nodes.map(() => []);
  view.edges.forEach((edge, number) => {
    children[edge.parent].push(edge.child);
    arrive[edge.child].push(number);
  });
  return { children, arrive, degree: view.nodes.map((node, k) => node.parents.length + children[k].length) };
}

function describeEdge(view, edge) {
  const told = [visible(view.names[edge.parent]) + " → " + visible(view.names[edge.child]), "head " + edge.head,
    "attention " + shownShare(edge.attention)];
  if (edge.margin !== null) told.push("margin " + shownScore(edge.margin) + (view.unit ? " " + view.unit : ""));
  if (edge.strength) told.push(edge.strength);
  return told.join(", ");
}

function describeKind(view, node) {
  const { kind, parents } = view.nodes[node];
  if (kind === "child") return counted(parents.length, "parent");
  if (kind === "undecided") return "undecided";
  const others = view.nodes[node].with.map((other) => visible(view.names[other]));
  return others.length ? "root, drawn with " + others.join(", ") : "root";
}

// What a screen reader says of the chosen node.
function spoken(view, incoming, node) {
  const list = (numbers) => numbers.slice(0, 12).map((k) => visible(view.names[k])).join(", ") + (numbers.length > 12 ? " and more" : "");
  const parents = view.nodes[node].parents;
  const children = incoming.children[node];
  return visible(view.names[node]) + ": " + (parents.length ? "parents " + list(parents) : describeKind(view, node)) + "; " +
    (children.length ? "children " + list(children) : "no children") + ".";
}
