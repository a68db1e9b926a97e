// Where nodes stand and edges run, in pixels, and which names there is room for.

const PILL = { height: 24, side: 9, most: 16 };

// The two ways to draw a graph: unit coordinates of the nodes, and how high the picture should be.
const DRAWINGS = {
  layered: {
    says: "Layers",
    title: "Parents above children",
    unit: (view) => view.nodes.map((node) => [node.x, node.y]),
    height: (view) => clamp(view.drawing.height * 74 + 90, 220, 640),
  },
  arc: {
    says: "Arcs",
    title: "Nodes in an order, parents left of children",
    unit: (view) => view.nodes.map((node) => [view.n_nodes > 1 ? node.place / (view.n_nodes - 1) : 0.5, arcLine(view)]),
    height: (view) => (view.n_heads > 1 ? 420 : 300),
  },
};

// One head has all arcs above the line; several share both sides.
function arcLine(view) {
  return view.n_heads > 1 ? 0.5 : 0.92;
}

// Pills (a name in a rounded box) for as many nodes as have room, the most wanted first; the others are dots. The
// first «near» of the wanted cover dots, and the very first of them, the chosen node, has a pill in any case.
function placeNames(points, widths, wanted, near, size, dot) {
  const cell = 48;
  const taken = new Map();
  const free = new Array(points.length).fill(false);
  const meets = (one, other) =>
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  const cells = (box, work) => {
    for (let x = Math.floor(box[0] / cell); x <= Math.floor(box[2] / cell); x += 1) {
      for (let y = Math.floor(box[1] / cell); y <= Math.floor(box[3] / cell); y += 1) {
        if (work(x + "," + y) === false) return false;
      }
    }
    return true;
  };
  const boxOf = (node, half, high) => {
    const [x, y] = points[node];
    return [x - half, y - high, x + half, y + high];
  };
  const keep = (box, node) => cells(box, (key) => {
    if (!taken.has(key)) taken.set(key, []);
    taken.get(key).push([box, node]);
  });
  wanted.forEach((node, place) => {
    if (place === near) points.forEach((_, each) => keep(boxOf(each, dot, dot), each));
    const [x, y] = points[node];
    if (x < -60 || y < -30 || x > size.width + 60 || y > size.height + 30) return;
    const box = boxOf(node, widths[node] / 2 + 3, PILL.height / 2 + 3);
    const room = (near && !place) || cells(box, (key) =>
      !(taken.get(key) || []).some(([other, whose]) => whose !== node && meets(box, other)));
    if (!room) return;
    keep(box, node);
    free[node] = true;
  });
  return free;
}

// A line that leaves downwards, passes its bends and arrives from above: a spline that never swings beyond its points.
function layeredPath(points) {
  const last = points.length - 1;
  const lean = (k) => (points[k + 1][0] - points[k][0]) / Math.max(points[k + 1][1] - points[k][1], 1e-6);
  const slope = points.map((_, k) => {
    if (k === 0 || k === last) return 0;
    const [before, after] = [lean(k - 1), lean(k)];
    return before * after > 0 ? (2 * before * after) / (before + after) : 0;
  });
  let path = "M" + pair(points[0]);
  for (let k = 1; k <= last; k += 1) {
    const [x0, y0] = points[k - 1];
    const [x1, y1] = points[k];
    // A line without bends curves gently; between bends a third of the way is the cubic of these slopes.
    const third = (y1 - y0) / (last === 1 ? 2 : 3);
    path += "C" + pair([x0 + slope[k - 1] * third, y0 + third]) + " " + pair([x1 - slope[k] * third, y1 - third]) + " " +
      pair([x1, y1]);
  }
  return path;
}

function pair([x, y]) {
  return x.toFixed(1) + " " + y.toFixed(1);
}

// Half an ellipse from parent to child, above the line or below it.
function arcPath(from, to, above, most) {
  const wide = Math.abs(to[0] - from[0]) / 2;
  const high = Math.min(Math.max(wide, 14), most);
  const turn = (to[0] > from[0]) === above ? 1 : 0;
  return "M" + pair(from) + "A" + pair([wide, high]) + " 0 0 " + turn + " " + pair(to);
}

// The head of an arrow whose tip is at (x, y), pointing down or up.
function tipPath(x, y, down, long) {
  const back = down ? -long : long;
  return "M" + x.toFixed(1) + " " + y.toFixed(1) + "l" + (-long * 0.5).toFixed(1) + " " + back.toFixed(1) +
    "h" + long.toFixed(1) + "z";
}
