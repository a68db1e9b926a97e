// What is told of a chosen node: parents, children, and per head the best candidates.

function showPanel(panel, view, incoming, node, goTo) {
  if (node === null) {
    panel.replaceChildren(el("p", { class: "kgmi-empty" }, "Choose a node in the graph, and its parents, children and " +
      "the candidates of its heads stand here."));
    return;
  }
  const { parents } = view.nodes[node];
  const children = incoming.children[node];
  const heads = view.candidates[node] || [];
  panel.replaceChildren(el("div", {},
    el("p", { class: "kgmi-title" }, el("strong", {}, visible(view.names[node])), " ", el("span", {}, describeKind(view, node))),
    linked("Parents", view, parents, goTo),
    linked("Children", view, children, goTo),
    lawOf(view, node),
    ...heads.map((head) => headTable(view, node, head, goTo)),
    heads.length ? null : el("p", { class: "kgmi-empty" }, "No head looked for parents of this node.")));
  panel.scrollTop = 0;
}

function link(view, node, goTo) {
  return el("button", { type: "button", class: "kgmi-link", title: visible(view.names[node]), onclick: () => goTo(node) },
    shortened(view.names[node], 24));
}

function linked(says, view, nodes, goTo) {
  const most = 40;
  const items = nodes.slice(0, most).map((node) => el("li", {}, link(view, node, goTo)));
  if (nodes.length > most) items.push(el("li", {}, "and " + grouped.format(nodes.length - most) + " more"));
  return el("div", { class: "kgmi-row" }, el("span", { class: "kgmi-word" }, says),
    nodes.length ? el("ul", {}, ...items) : el("span", { class: "kgmi-faint" }, "none"));
}

// How often each state of the node occurs.
function lawOf(view, node) {
  const law = view.laws && view.laws[node];
  if (!law) return null;
  const states = law.states || view.states;
  const items = law.law.map((share, k) => el("li", {}, shortened(states[k], 14) + " ", el("b", {}, shownShare(share))));
  return el("div", { class: "kgmi-row" }, el("span", { class: "kgmi-word" }, "States"), el("ul", {}, ...items));
}

function headTable(view, node, head, goTo) {
  const unit = view.unit ? " (" + view.unit + ")" : "";
  const rows = head.list.map(([candidate, score, attention]) => {
    const bar = el("span", { class: "kgmi-bar " + headClass(head.head), "aria-hidden": "true" });
    bar.style.width = Math.round(attention * 44) + "px";
    const isParent = view.nodes[node].parents.includes(candidate);
    return el("tr", { class: isParent ? "kgmi-is-parent" : "" },
      el("th", { scope: "row" }, link(view, candidate, goTo), isParent ? el("span", { class: "kgmi-tag" }, "parent") : null),
      el("td", {}, shownScore(score)),
      el("td", { class: "kgmi-share" }, bar, shownShare(attention)));
  });
  const more = head.of - head.list.length;
  const foot = more > 0
    ? el("tfoot", {}, el("tr", {}, el("td", { colspan: 3, class: "kgmi-faint" }, "and " + counted(more, "candidate") + " with less")))
    : null;
  return el("table", {},
    el("caption", {}, "Head " + head.head + ": " + marginText(view, head)),
    el("thead", {}, el("tr", {}, ...["candidate", "score" + unit, "attention"].map((word) => el("th", { scope: "col" }, word)))),
    el("tbody", {}, ...rows), foot);
}

function marginText(view, head) {
  if (head.list.length < 2) return "only one candidate";
  const [first, second] = head.list.map(([candidate]) => shortened(view.names[candidate], 20));
  if (head.margin === 0) return first + " and " + second + " are tied";
  const unit = view.unit ? " " + view.unit : "";
  return "prefers " + first + " to " + second + " by " + shownScore(head.margin) + unit;
}
