// Camera: how the drawing is moved and enlarged. Positions grow with the scale, marks and letters do not, so that
// nodes come apart when one looks closer. Drag, wheel (when the graph has the focus, or with Ctrl), two fingers.

const MOST_SCALE = 60;

function makeCamera(svg, changed) {
  const camera = { scale: 1, x: 0, y: 0 };
  const size = () => svg.getBoundingClientRect();
  let rest = 0;

  // Dashes take a browser most of its time; while many lines move they are left out.
  function moving() {
    svg.classList.add("kgmi-moving");
    clearTimeout(rest);
    rest = setTimeout(() => svg.classList.remove("kgmi-moving"), 160);
  }

  function hold() {
    // Keep some of the drawing in sight.
    const box = size();
    camera.x = clamp(camera.x, -box.width * (camera.scale - 0.15), box.width * 0.85);
    camera.y = clamp(camera.y, -box.height * (camera.scale - 0.15), box.height * 0.85);
    svg.classList.toggle("kgmi-close", camera.scale > 1);
  }

  camera.zoom = (factor, centre) => {
    const box = size();
    const at = centre || { x: box.width / 2, y: box.height / 2 };
    const scale = clamp(camera.scale * factor, 1, MOST_SCALE);
    camera.x = at.x - (at.x - camera.x) * (scale / camera.scale);
    camera.y = at.y - (at.y - camera.y) * (scale / camera.scale);
    camera.scale = scale;
    if (scale === 1) camera.x = camera.y = 0;
    moving();
    hold();
    changed();
  };

  camera.move = (dx, dy) => {
    camera.x += dx;
    camera.y += dy;
    moving();
    hold();
    changed();
  };

  camera.reset = () => {
    camera.scale = 1;
    camera.x = camera.y = 0;
    hold();
    changed();
  };

  watchPointers(svg, camera);
  return camera;
}

// Drag with one pointer, enlarge with two. What is no drag is left to the click listener; «dragged» tells it.
function watchPointers(svg, camera) {
  const down = new Map();
  let travelled = 0;
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!down.size) travelled = 0;
    down.set(event.pointerId, at(event));
  });
  svg.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (down.size === 2) {
      const other = [...down.entries()].find(([id]) => id !== event.pointerId)[1];
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(now.x - other.x, now.y - other.y);
      if (was > 0) camera.zoom(is / was, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    } else if (travelled > 4) {
      if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      camera.move(now.x - before.x, now.y - before.y);
    }
    down.set(event.pointerId, now);
  });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
    svg.addEventListener(kind, (event) => down.delete(event.pointerId));
  }
  camera.dragged = () => travelled > 4;
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !svg.contains(document.activeElement)) return; // the page scrolls on
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoom(Math.exp(clamp(-event.deltaY * lines, -240, 240) * (event.ctrlKey ? 0.01 : 0.002)), at(event));
  }, { passive: false });
}
