// The lines of the graph. Few edges have an element each, with a title; of many, those that look alike share one, as
// a browser draws a few long paths far faster than thousands of short ones. Both kinds take the line and the tip of
// each edge with «put», and show them with «flush».

const MANY_EDGES = 300;

function edgeLook(edge) {
  return headClass(edge.head) + " kgmi-" + (edge.strength || "clear");
}

function edgeElement(layer, look, head, title) {
  const line = svgEl("path", { class: "kgmi-line", "stroke-dasharray": headDash(head) });
  const tip = svgEl("path", { class: "kgmi-tip" });
  const group = svgEl("g", { class: "kgmi-edge " + look }, title ? svgEl("title", {}, title) : null, line, tip);
  layer.append(group);
  return { group, line, tip };
}

function touches(edge, node) {
  return node !== null && (edge.child === node || edge.parent === node);
}

function singleEdges(layer, view) {
  const drawn = view.edges.map((edge) => edgeElement(layer, edgeLook(edge), edge.head, describeEdge(view, edge)));
  return {
    put(number, line, tip) {
      drawn[number].line.setAttribute("d", line);
      drawn[number].tip.setAttribute("d", tip);
    },
    flush() {},
    light(chosen) {
      drawn.forEach(({ group }, number) => group.classList.toggle("kgmi-is-near", touches(view.edges[number], chosen)));
    },
  };
}

function bundledEdges(layer, view) {
  const bundles = new Map();
  let chosen = null;
  // Those at the chosen node are bundles of their own, above the others.
  for (const near of ["", " kgmi-is-near"]) {
    for (const edge of view.edges) {
      const look = edgeLook(edge) + near;
      if (!bundles.has(look)) bundles.set(look, { ...edgeElement(layer, look, edge.head), lines: [], tips: [] });
    }
  }
  return {
    put(number, line, tip) {
      const edge = view.edges[number];
      const bundle = bundles.get(edgeLook(edge) + (touches(edge, chosen) ? " kgmi-is-near" : ""));
      bundle.lines.push(line);
      bundle.tips.push(tip);
    },
    flush() {
      for (const bundle of bundles.values()) {
        bundle.line.setAttribute("d", bundle.lines.join(""));
        bundle.tip.setAttribute("d", bundle.tips.join(""));
        bundle.lines = [];
        bundle.tips = [];
      }
    },
    light(node) { chosen = node; },
  };
}
