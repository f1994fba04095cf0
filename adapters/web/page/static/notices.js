// Shows the operator's announcement in every view, and whether pairing is paused. Updated while the page is visible.
import { find, write } from "./dom.js";
import { isLong } from "./format.js";
import { Poll, readJson } from "./read.js";

const PERIOD = 10_000;

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
  line.classList.toggle("long", isLong(line.textContent));
  line.hidden = announcement === null;
  find(".notices .paused").hidden = !paused;
}
