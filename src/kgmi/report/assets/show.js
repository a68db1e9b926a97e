// All of it together: graph with panel, and the player; a node that is chosen is marked in the heat maps too.
//
// window.kgmiView has three functions. All take (container, view, options), where the view is what Python's
// kgmi.report.view_of gives, add one element to the container, and give back an object with «element» and «destroy».
//   graph:  options layout ("layered" or "arc"), panel, search, height (pixels), selected (a node), onSelect(node);
//           gives select(node), setLayout(layout), zoom(factor), reset().
//   player: options autoplay, start ("start" or "end"), onFrame(place, last);
//           gives seek(place), play(), pause(), mark(node), last.
//   show:   both, under headings; options heading (a level), graph, player, onSelect; gives graph and player.
// Nodes are numbers from 0, as in view.names; null is none.

function show(container, view, options) {
  const settings = Object.assign({ heading: 3 }, options);
  const heading = (text) => el("h" + settings.heading, { class: "kgmi-heading" }, text);
  const upper = el("div", {}, heading("Graph"));
  const lower = el("div", {}, heading("How the heads concentrated"));
  const root = el("div", { class: "kgmi-show" }, upper, lower);
  container.append(root);
  const below = player(lower, view, settings.player);
  const above = graph(upper, view, Object.assign({}, settings.graph, {
    onSelect(node) {
      below.mark(node);
      if (settings.onSelect) settings.onSelect(node);
    },
  }));
  return {
    element: root,
    graph: above,
    player: below,
    destroy() {
      above.destroy();
      below.destroy();
      root.remove();
    },
  };
}

window.kgmiView = { version: 1, show, graph, player };
