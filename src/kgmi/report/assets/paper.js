// On paper nobody can look closer or point at a dot: the drawing is as wide and high as a page has room for, and nodes
// of a crowded layer stand alternately higher and lower, so that there is room for their names.

const PAPER = { narrow: 700, wide: 1000, high: 1.05, layer: 74, step: 32, named: 120 };

function rowsOf(points) {
  const rows = new Map();
  points.forEach(([, y], node) => {
    const key = Math.round(y);
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(node);
  });
  return [...rows.values()].map((nodes) => nodes.sort((a, b) => points[a][0] - points[b][0]));
}

// On how many levels the nodes of a layer must stand for all their pills to have room.
function levelsOf(nodes, points, widths, most) {
  for (let levels = 1; levels < most; levels += 1) {
    const fits = nodes.every((node, place) => {
      const next = nodes[place + levels];
      return next === undefined || points[next][0] - points[node][0] > (widths[node] + widths[next]) / 2 + 8;
    });
    if (fits) return levels;
  }
  return most;
}

// Size of the drawing and places of its nodes; null where there are too many nodes for names, or they are in a line.
function onPaper(view, state, camera, widths) {
  if (state.layout !== "layered" || view.n_nodes > PAPER.named) return null;
  const large = paperOf(PAPER.narrow, view, state, camera, widths);
  return large.crowded ? paperOf(PAPER.wide, view, state, camera, widths) : large; // a wide drawing has smaller letters
}

function paperOf(width, view, state, camera, widths) {
  const tallest = width * PAPER.high;
  const flat = positions(view, state, camera, { width, height: 10000 }); // far apart: rows can be told
  const rows = rowsOf(flat).sort((a, b) => flat[a[0]][1] - flat[b[0]][1]);
  const most = clamp(Math.floor((tallest / rows.length - 26) / PAPER.step), 1, 5);
  const levels = rows.map((nodes) => levelsOf(nodes, flat, widths, most));
  const extra = Math.max(...levels) - 1;
  const box = { width, height: clamp(rows.length * (PAPER.layer + extra * PAPER.step), 220, tallest) };
  const points = positions(view, state, camera, box);
  rows.forEach((nodes, row) => nodes.forEach((node, place) => {
    const inside = row === 0 ? 0 : row === rows.length - 1 ? levels[row] - 1 : (levels[row] - 1) / 2; // not over the rim
    points[node][1] += ((place % levels[row]) - inside) * PAPER.step;
  }));
  return { box, points, crowded: rows.some((nodes) => levelsOf(nodes, flat, widths, 2) > 1) };
}
