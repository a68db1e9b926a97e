// The elements of the graph, and how they are put in their places.

function graphParts(view, settings) {
  const edgeLayer = svgEl("g", { class: "kgmi-edges", "aria-hidden": "true" });
  const nodeLayer = svgEl("g", { class: "kgmi-nodes" });
  const hintId = freshId("hint");
  const svg = svgEl("svg", {
    class: "kgmi-picture",
    role: "group",
    "aria-label": "Graph with " + counted(view.n_nodes, "node") + " and " + counted(view.n_edges, "edge"),
    "aria-describedby": hintId,
    width: "100%",
  }, edgeLayer, nodeLayer);
  const layouts = Object.entries(DRAWINGS).map(([name, drawing]) =>
    el("button", { type: "button", "data-layout": name, title: drawing.title, "aria-pressed": "false" }, drawing.says));
  const zooms = [["−", "Smaller (key −)", 1 / 1.4], ["+", "Larger (key +)", 1.4], ["Fit", "Fit the whole graph (key 0)", 0]]
    .map(([says, title, factor]) =>
      el("button", { type: "button", title, "aria-label": title, "data-zoom": factor }, says));
  const search = settings.search ? searchBox(view) : null;
  const tools = el("div", { class: "kgmi-tools" },
    el("div", { class: "kgmi-group", role: "group", "aria-label": "Way of drawing" }, ...layouts),
    el("div", { class: "kgmi-group", role: "group", "aria-label": "Size" }, ...zooms),
    search && search.root);
  const live = el("p", { class: "kgmi-quiet", "aria-live": "polite" });
  const panel = el("section", { class: "kgmi-panel", "aria-label": "Chosen node" });
  const stage = el("div", { class: "kgmi-stage" }, svg);
  const hint = el("p", { class: "kgmi-hint", id: hintId },
    "Choose a node to see its candidates. Drag to move; click, then use the wheel to enlarge. Keys: ← → next node, " +
    "↑ parent, ↓ child, Enter chooses, + − 0 change the size.");
  const left = el("div", { class: "kgmi-left" }, tools, stage, legend(view), hint);
  const root = el("div", { class: "kgmi-view kgmi-graph" }, left, settings.panel ? panel : null, live);
  root.classList.toggle("kgmi-with-panel", settings.panel);
  root.classList.toggle("kgmi-many", view.n_edges > MANY_EDGES);
  return { root, svg, stage, edgeLayer, nodeLayer, layouts, zooms, search, live, panel };
}

function searchBox(view) {
  const list = freshId("names");
  const input = el("input", { type: "search", list, placeholder: "Find a node", "aria-label": "Find a node by name",
    autocomplete: "off", spellcheck: "false" });
  const names = el("datalist", { id: list }, ...view.names.map((name) => el("option", { value: name })));
  return { root: el("div", { class: "kgmi-search" }, input, names), input };
}

function legend(view) {
  const line = (head, strength) => svgEl("svg", { width: 34, height: 10, "aria-hidden": "true" },
    svgEl("line", { x1: 1, y1: 5, x2: 33, y2: 5, class: "kgmi-line " + (head ? headClass(head) : "kgmi-plain") +
      (strength ? " kgmi-" + strength : ""), "stroke-dasharray": head ? headDash(head) : "" }));
  const items = [];
  for (let head = 1; head <= Math.min(view.n_heads, 6); head += 1) {
    items.push(el("li", {}, line(head, "clear"), " head " + head));
  }
  for (const strength of ["certain", "clear", "weak"]) {
    if (view.edges.some((edge) => edge.strength === strength)) items.push(el("li", {}, line(0, strength), " " + strength));
  }
  return view.n_edges ? el("ul", { class: "kgmi-legend", "aria-label": "Lines" }, ...items) : null;
}

function makeNodes(layer, view, names) {
  return view.nodes.map((node, number) => {
    const box = svgEl("rect", {});
    const text = svgEl("text", { "text-anchor": "middle", dy: "0.35em" }, names[number]);
    const group = svgEl("g", {
      class: "kgmi-node kgmi-" + node.kind,
      role: "button",
      tabindex: number === 0 ? "0" : "-1",
      "data-node": number,
      "aria-label": visible(view.names[number]) + ", " + describeKind(view, number),
      "aria-pressed": "false",
    }, svgEl("title", {}, visible(view.names[number]) + " (" + describeKind(view, number) + ")"), box, text);
    layer.append(group);
    return { group, box, text };
  });
}

// Pixels of every node under the camera.
function positions(view, state, camera, box) {
  const side = sideOf(box);
  const top = state.layout === "arc" ? 12 : 26;
  return DRAWINGS[state.layout].unit(view).map(([x, y]) => spot(x, y, camera, box, side, top));
}

// Free at the left and the right, so that the box of a name has room.
function sideOf(box) {
  return Math.min(64, box.width / 7);
}

function spot(x, y, camera, box, side, top) {
  return [
    (side + x * (box.width - 2 * side)) * camera.scale + camera.x,
    (top + y * (box.height - 2 * top)) * camera.scale + camera.y,
  ];
}

function drawGraph({ view, parts, state, nodes, edges, widths, incoming }, camera, wanted) {
  const paper = printing ? onPaper(view, state, camera, widths) : null;
  const box = paper ? paper.box : parts.svg.getBoundingClientRect();
  if (!box.width) return; // hidden: the observer calls again when it is shown
  parts.svg.setAttribute("viewBox", "0 0 " + box.width.toFixed(1) + " " + box.height.toFixed(1)); // for paper, which is narrower
  const points = paper ? paper.points : positions(view, state, camera, box);
  const dot = Math.round(2 * clamp(90 / Math.sqrt(view.n_nodes) * Math.sqrt(camera.scale), 2.5, 7)) / 2;
  // Many lines are thin, and grow when one looks closer.
  parts.svg.style.setProperty("--kgmi-thin", clamp(14 / Math.sqrt(view.n_edges + 1) * Math.sqrt(camera.scale), 0.4, 1));
  const free = placeNames(points, widths, wanted.nodes, wanted.near, box, dot);
  nodes.forEach((node, number) => drawNode(node, points[number], free[number], widths[number], dot));
  const halves = free.map((pill) => (pill ? PILL.height / 2 : dot));
  const lines = { view, state, camera, box, points, halves, free, widths, dot };
  incoming.arrive.forEach((numbers) => drawArriving(numbers, edges, lines));
  edges.flush();
}

function drawNode(node, [x, y], pill, width, dot) {
  const half = pill ? width / 2 : dot;
  const high = pill ? PILL.height / 2 : dot;
  node.group.setAttribute("transform", "translate(" + x.toFixed(1) + " " + y.toFixed(1) + ")");
  if (node.shape === half + "," + high) return; // most marks only move
  node.shape = half + "," + high;
  for (const [name, value] of [["x", -half], ["y", -high], ["width", 2 * half], ["height", 2 * high], ["rx", high]]) {
    node.box.setAttribute(name, value.toFixed(1));
  }
  node.text.setAttribute("visibility", pill ? "visible" : "hidden");
}

// All edges that end at one child: their tips stand side by side, in the order in which they come.
function drawArriving(numbers, edges, lines) {
  const { view, state, camera, box, points, halves, free, widths, dot } = lines;
  const arc = state.layout === "arc";
  const ways = numbers.map((number) => {
    const edge = view.edges[number];
    const bends = arc ? [] : edge.bends.map(([x, y]) => spot(x, y, camera, box, sideOf(box), 26));
    return { number, edge, way: [points[edge.parent].slice(), ...bends, points[edge.child].slice()] };
  });
  // On an arc the parent that is nearest arrives outermost, so that arcs do not cross.
  ways.sort((a, b) => a.way[a.way.length - 2][0] - b.way[b.way.length - 2][0]);
  const long = clamp(dot * 1.2, 3.5, 8);
  ways.forEach(({ number, edge, way }, place) => {
    const room = free[edge.child] ? Math.min(widths[edge.child] - 16, 14 * ways.length) : dot;
    const shift = ways.length > 1 ? (place / (ways.length - 1) - 0.5) * Math.max(room, 0) * 0.8 : 0;
    const end = way[way.length - 1];
    end[0] += shift;
    const above = !arc || edge.head % 2 === 1;
    const sign = above ? -1 : 1;
    end[1] += sign * (halves[edge.child] + 1);
    const tip = tipPath(end[0], end[1], above, long);
    end[1] += sign * (long - 1);
    way[0][1] += arc ? sign * halves[edge.parent] : halves[edge.parent];
    const path = arc
      ? arcPath(way[0], end, above, (box.height / 2 - 30) * (view.n_heads > 1 ? 1 : 1.8) * camera.scale)
      : layeredPath(way);
    const inSight = outside(way, box) ? "" : path; // what nobody sees costs no time
    edges.put(number, inSight, inSight && tip);
  });
}

// Whether a line is off the picture, on one side of it; an arc rises above its ends, so that only left and right count.
function outside(way, box) {
  const xs = way.map(([x]) => x);
  const ys = way.map(([, y]) => y);
  const arc = way.length === 2 && Math.abs(ys[0] - ys[1]) < 40;
  return Math.max(...xs) < 0 || Math.min(...xs) > box.width ||
    (!arc && (Math.max(...ys) < 0 || Math.min(...ys) > box.height));
}

// Marks the chosen node, its parents and children, and the edges between them.
function lightUp(view, nodes, edges, chosen) {
  const near = new Map();
  if (chosen !== null) {
    near.set(chosen, "kgmi-is-chosen");
    view.edges.forEach((edge) => {
      if (edge.child === chosen) near.set(edge.parent, "kgmi-is-parent");
      if (edge.parent === chosen) near.set(edge.child, "kgmi-is-child");
    });
  }
  nodes.forEach(({ group }, number) => {
    group.classList.remove("kgmi-is-chosen", "kgmi-is-parent", "kgmi-is-child");
    if (near.has(number)) group.classList.add(near.get(number));
    group.setAttribute("aria-pressed", String(number === chosen));
  });
  edges.light(chosen);
}
