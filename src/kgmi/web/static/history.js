// Runs of this tab; another tab has its own. They last as long as the tab and the server do.

import { ask, byId, counted, el } from "./talk.js";
import { GUIDE_NAMES } from "./form.js";

const MOST = 12;
const read = (key) => { try { return sessionStorage.getItem(key); } catch { return null; } };
const write = (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* not kept, then */ } };

let tab = read("kgmi-tab");
if (!tab) {
  tab = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  write("kgmi-tab", tab);
}
let runs = [];

export const tabName = () => tab;

export function remember(jobs) {
  const label = jobs[0].name + ": " + jobs.map((job) => GUIDE_NAMES[job.fit.guide] || job.fit.guide).join(" / ");
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  runs = [{ ids: jobs.map((job) => job.id), label, time }, ...runs].slice(0, MOST);
  write("kgmi-runs", JSON.stringify(runs));
}

// After a reload: runs that the server still knows. Gives the newest of them that is not over, or nothing.
export async function remembered() {
  let kept = [];
  try {
    kept = JSON.parse(read("kgmi-runs") || "[]");
  } catch { /* nothing that we wrote */ }
  if (!Array.isArray(kept) || !kept.length) return undefined;
  const known = new Map((await ask("/api/jobs?tab=" + tab)).jobs.map((job) => [job.id, job.state]));
  runs = kept.filter((run) => run.ids.every((id) => known.has(id)));
  return runs.find((run) => run.ids.some((id) => ["waiting", "running"].includes(known.get(id))));
}

export function drawHistory(open, current) {
  byId("history-part").hidden = !runs.length;
  byId("history-title").textContent = counted(runs.length, "run") + " of this tab";
  byId("history").replaceChildren(...runs.map((run) => el("li", {},
    el("button", { type: "button", "aria-current": run.ids.join() === current.join() ? "true" : null, onclick: () => open(run) },
      run.label, el("span", { class: "hint" }, " " + run.time)))));
}
