// Small things that all parts use: elements, words, and talking to the server.
// Text from data goes through text nodes and attributes, never through innerHTML.

export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== "") node.append(child);
  return node;
}

export const byId = (id) => document.getElementById(id);

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const shown = (number) => grouped.format(number);

export function counted(number, one, many) {
  return shown(number) + " " + (number === 1 ? one : many || one + "s");
}

export function shownTime(seconds) {
  if (seconds < 10) return seconds.toFixed(1) + " s";
  if (seconds < 120) return Math.round(seconds) + " s";
  return Math.round(seconds / 60) + " min";
}

// What went wrong, in words: a sentence and what to do.
export class Trouble extends Error {
  constructor(error, advice) {
    super(error);
    this.advice = advice || "";
  }
}

export async function ask(address, options) {
  let answer;
  try {
    answer = await fetch(address, options);
  } catch {
    throw new Trouble("The server does not answer.", "Look whether kgmi serve still runs in its terminal, and reload.");
  }
  let content = null;
  try {
    content = await answer.json();
  } catch {
    throw new Trouble("The server gave no proper answer (" + answer.status + ").", "Reload the page and try again.");
  }
  if (!answer.ok) throw new Trouble(content.error || "It did not work.", content.advice);
  return content;
}

export function post(address, content) {
  return ask(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: content === undefined ? undefined : JSON.stringify(content),
  });
}

export function troubleBox(trouble) {
  return el("div", { class: "bad" },
    el("p", {}, el("strong", {}, trouble.message || String(trouble))),
    trouble.advice ? el("p", {}, trouble.advice) : null);
}

// Shows trouble at the top of the main part, and takes away what was shown before.
export function complain(trouble) {
  const place = byId("message");
  place.replaceChildren();
  if (!trouble) return;
  place.append(troubleBox(trouble));
  place.scrollIntoView({ block: "nearest" });
}

// Said to people who hear the page rather than see it.
export function say(text) {
  if (byId("live").textContent !== text) byId("live").textContent = text;
}
