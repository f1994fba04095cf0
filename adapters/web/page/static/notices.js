// Shows the operator's announcement in every view, and whether pairing is paused. Updated while the page is visible.
import { find, write } from "./dom.js";
import { Poll, readJson } from "./read.js";

const PERIOD = 10_000;
/** Characters from which an announcement is long. */
const LONG = 80;

new Poll(
  async () => {
    const notice = await readJson("/api/notice");
    if (notice !== null) show(notice);
  },
  () => PERIOD * (0.9 + 0.2 * Math.random()),
);

/** @param {{ announcement: string | null, paused: boolean }} notice */
function show({ announcement, paused }) {
  const line = find(".notices .announcement");
  write(line, announcement ?? "");
  line.classList.toggle("long", line.textContent.length > LONG);
  line.hidden = announcement === null;
  find(".notices .paused").hidden = !paused;
}
