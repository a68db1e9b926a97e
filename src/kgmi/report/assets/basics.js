// Small things that all parts use. Text from data goes through text nodes and attributes, never through innerHTML.

const SVG = "http://www.w3.org/2000/svg";
let lastId = 0;

// An id that no other view on the page has.
function freshId(word) {
  lastId += 1;
  return "kgmi-" + word + "-" + lastId;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") node.setAttribute("class", value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

// An HTML element with attributes and children; «onclick» and the like are listeners.
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svgEl(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// A score or margin: whole numbers from ten on, else two digits that count.
function shownScore(value) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 10) return grouped.format(value);
  return value === 0 ? "0" : String(Number(value.toPrecision(2)));
}

function shownShare(value) {
  return value.toFixed(2);
}

function counted(number, one, many) {
  return grouped.format(number) + " " + (number === 1 ? one : many || one + "s");
}

// Control characters, and marks that would turn the text around a name, are shown as a sign.
function visible(name) {
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "\ufffd");
}

// A name that fits: long ones lose their middle. The whole name is in the title and the panel.
function shortened(name, most) {
  const letters = Array.from(visible(name).trim() || "(no name)");
  if (letters.length <= most) return letters.join("");
  const tail = Math.floor((most - 1) / 2);
  return letters.slice(0, most - 1 - tail).join("") + "…" + letters.slice(letters.length - tail).join("");
}

// Names that fit, and are still told apart: where two become the same, their numbers take the place of the end.
function shortNames(names, most) {
  const short = names.map((name) => shortened(name, most));
  const often = new Map();
  for (const one of short) often.set(one, (often.get(one) || 0) + 1);
  return short.map((one, place) => {
    if (often.get(one) === 1) return one;
    const number = "…" + (place + 1);
    return shortened(names[place], Number.MAX_SAFE_INTEGER).slice(0, Math.max(1, most - number.length)) + number;
  });
}

function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Calls at most once a frame, however often it is asked.
function onceAFrame(work) {
  let asked = 0;
  const ask = () => {
    if (!asked) asked = requestAnimationFrame(() => { asked = 0; work(); });
  };
  ask.now = () => {
    ask.stop();
    work();
  };
  ask.stop = () => {
    cancelAnimationFrame(asked);
    asked = 0;
  };
  return ask;
}

// Watches the width of an element; gives back a function that ends it.
function onResize(node, work) {
  const watcher = new ResizeObserver(work);
  watcher.observe(node);
  return () => watcher.disconnect();
}

const measuring = document.createElement("canvas").getContext("2d");

function textWidth(text, font) {
  measuring.font = font;
  return measuring.measureText(text).width;
}
