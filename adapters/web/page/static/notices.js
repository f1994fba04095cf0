// For every view: what the operator announces, and whether pairing is paused, while the page is visible.
const PERIOD = 10_000;

const find = (name) => document.querySelector(`.notices .${name}`);
let due;

async function look() {
  clearTimeout(due);
  if (document.hidden) return;
  try {
    const answer = await fetch("/api/notice");
    if (answer.ok) show(await answer.json());
  } catch {
    // The server is away for a moment; the view itself says so where that matters.
  }
  clearTimeout(due);
  due = setTimeout(look, PERIOD * (0.9 + 0.2 * Math.random()));
}

function show({ announcement, paused }) {
  const line = find("announcement");
  if (line.textContent !== (announcement ?? "")) line.textContent = announcement ?? "";
  line.classList.toggle("long", line.textContent.length > 80);
  line.hidden = announcement === null;
  find("paused").hidden = !paused;
}

document.addEventListener("visibilitychange", look);
due = setTimeout(look, PERIOD * Math.random());
