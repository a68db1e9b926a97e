// Colours that canvases need; all others are in the style sheet. Heads: Okabe and Ito, told apart by colour-blind
// readers; on the screen and in print they differ in their dashes too.

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];
const LOOKS = {
  light: { low: [241, 245, 250], high: [8, 48, 107], ink: "#1d2129", faint: "#5c6470", out: "#d9dde3", mark: "#c2410c" },
  dark: { low: [29, 36, 46], high: [168, 210, 255], ink: "#e6e9ee", faint: "#a2abb8", out: "#10141a", mark: "#ff9d5c" },
};

let printing = false;
window.addEventListener("beforeprint", () => { printing = true; });
window.addEventListener("afterprint", () => { printing = false; });

// As the system has it, like the style sheet; paper is white.
function currentLook() {
  return !printing && window.matchMedia("(prefers-color-scheme: dark)").matches ? LOOKS.dark : LOOKS.light;
}

// Calls when the look may have changed: theme of the system, or printing.
function onLook(work) {
  const query = window.matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", work);
  window.addEventListener("beforeprint", work);
  window.addEventListener("afterprint", work);
  return () => {
    query.removeEventListener("change", work);
    window.removeEventListener("beforeprint", work);
    window.removeEventListener("afterprint", work);
  };
}

// 256 colours from no attention to all of it, as [red, green, blue] bytes. The square root makes small attention
// visible, such as the uniform 1/m at the start.
function rampOf(look) {
  const ramp = new Uint8Array(256 * 3);
  for (let level = 0; level < 256; level += 1) {
    const part = Math.sqrt(level / 255);
    for (let tone = 0; tone < 3; tone += 1) {
      ramp[3 * level + tone] = look.low[tone] + (look.high[tone] - look.low[tone]) * part;
    }
  }
  return ramp;
}

function headClass(head) {
  return "kgmi-head-" + ((head - 1) % 7 + 1);
}

function headDash(head) {
  return DASHES[(head - 1) % DASHES.length];
}
