// Puts the interactive parts into the page; without this the page is still whole.
(function () {
  "use strict";
  const view = JSON.parse(document.getElementById("view").textContent);
  const still = document.getElementById("still");
  const here = document.getElementById("graph-here");
  const below = document.getElementById("player-here"); // not there where there was nothing to train
  const player = below && window.kgmiView.player(below, view, {});
  still.remove();
  here.classList.remove("kgmi-view");
  window.kgmiView.graph(here, view, { onSelect: (node) => { if (player) player.mark(node); } });
})();
