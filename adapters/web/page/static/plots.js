// Large plots that replace the plots in the page, if the server has the library.
//
// Expressions are interpreted (ast) and no styles are added, because the page's policy forbids eval and inline styles.

import { create, find } from "./dom.js";

/**
 * @typedef {{ player: string, game: string, at: number, sure: number, mean: number, deviation: number }} Rating
 * @typedef {{ player: string, opponent: string, games: number, points: number }} Meeting
 * @typedef {{ players: string[], ratings: Rating[], meetings: Meeting[] }} Data
 * @typedef {Record<string, unknown>} Specification of a plot in Vega-Lite
 */

const charts = /** @type {HTMLElement | null} */ (document.querySelector(".charts[data-library]"));
const narrow = matchMedia("(max-width: 639px)");

if (charts) await drawIn(charts);

/**
 * Draw the plots, and draw them again when the theme changes.
 * @param {HTMLElement} charts
 */
async function drawIn(charts) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { library = "", plots = "" } = charts.dataset;
  const [{ default: embed }, data] = await Promise.all([import(library), load(plots)]);

  /**
   * @param {string} name
   * @param {(data: Data, width: number) => Specification} specify
   */
  const show = async (name, specify) => {
    const card = find(`[data-plot=${name}]`, charts);
    const specification = specify(data, card.clientWidth - 32);
    card.style.minHeight = `${card.offsetHeight}px`; // so that elements below do not move up
    const place = create("div", { className: "plot" });
    await embed(
      place,
      { ...specification, ...looks() },
      {
        ast: true,
        actions: false,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
      },
    );
    card.replaceChildren(find("h2", card), place);
  };
  const draw = () => {
    if (data.ratings.length) show("ratings", overTime);
    if (data.meetings.length) show("meetings", betweenPlayers);
  };
  draw();
  dark.addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/**
 * @param {string} address
 * @returns {Promise<Data>}
 */
async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the data of the plots cannot be loaded: ${answer.status}`);
  return answer.json();
}

/**
 * Return a token's colour in the current theme. It is read from an element that uses the token.
 * @param {string} name
 */
function token(name) {
  const probe = document.body.appendChild(create("i"));
  probe.style.color = `var(--${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/**
 * @param {Data} data
 * @param {number} width
 * @returns {Specification}
 */
function overTime({ ratings, players }, width) {
  const chosen = { param: "chosen", empty: true };
  const below = { orient: "bottom", columns: 2, labelLimit: 120 };
  return {
    data: { values: ratings },
    height: 240,
    width,
    autosize: { type: "fit-x", contains: "padding" },
    params: [{ name: "chosen", select: { type: "point", fields: ["player"] }, bind: "legend" }],
    mark: { type: "line", point: { size: 30, filled: true }, strokeWidth: 2 },
    encoding: {
      x: { field: "at", type: "temporal", title: null, axis: { ...ticks(ratings), labelOverlap: true } },
      y: { field: "sure", type: "quantitative", title: "sure rating", scale: { zero: false } },
      color: {
        field: "player",
        type: "nominal",
        title: null,
        scale: ordered(
          ratings.map(({ player }) => player),
          players,
        ),
        legend: narrow.matches ? below : { labelLimit: 140 },
      },
      opacity: { condition: { ...chosen, value: 1 }, value: 0.12 },
      tooltip: [
        { field: "player" },
        { field: "game", title: "its game" },
        { field: "at", type: "temporal", format: "%-d %b %H:%M", title: "ended" },
        { field: "sure" },
        { field: "mean", title: "estimate" },
        { field: "deviation" },
      ],
    },
  };
}

/**
 * Return a scale with the players of `shown`, in the order of `players`. Does not use `sort`, which puts all names into
 * an expression, where some characters are errors.
 * @param {string[]} shown
 * @param {string[]} players
 */
function ordered(shown, players) {
  const all = new Set(shown);
  return { domain: players.filter((name) => all.has(name)) };
}

/**
 * Return the format and the number of the time labels. The format is precise enough that the labels differ, as that of
 * precision() in charts.py. From four days on, there is at most one label a day.
 * @param {Rating[]} ratings
 */
function ticks(ratings) {
  const times = ratings.map(({ at }) => at);
  const minutes = (Math.max(...times) - Math.min(...times)) / 60_000;
  if (minutes < 10) return { format: "%H:%M:%S", tickCount: 6 };
  if (minutes < 1380) return { format: "%H:%M", tickCount: 6 };
  if (minutes < 5760) return { format: "%-d %b %H:%M", tickCount: 4 };
  return { format: "%-d %b", tickCount: { interval: "day", step: Math.ceil(minutes / 1440 / 6) } };
}

/**
 * @param {Data} data
 * @returns {Specification}
 */
function betweenPlayers({ meetings, players }) {
  const opponents = ordered(
    meetings.map(({ opponent }) => opponent),
    players,
  );
  const rows = ordered(
    meetings.map(({ player }) => player),
    players,
  );
  return {
    data: { values: meetings },
    width: { step: 16 },
    height: { step: 16 },
    mark: { type: "rect", cornerRadius: 2 },
    encoding: {
      x: {
        field: "opponent",
        type: "nominal",
        scale: opponents,
        title: null,
        axis: { labelLimit: 90, labelAngle: -60 },
      },
      y: { field: "player", type: "nominal", scale: rows, title: null, axis: { labelLimit: 120 } },
      color: {
        field: "games",
        type: "quantitative",
        scale: { range: [token("accent-soft"), token("accent")] },
      },
      tooltip: [{ field: "player" }, { field: "opponent" }, { field: "games" }, { field: "points" }],
    },
  };
}

function looks() {
  const text = { labelColor: token("ink-2"), titleColor: token("ink-2"), labelFontSize: 12 };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    background: null,
    config: {
      font: "system-ui, sans-serif",
      view: { stroke: null },
      axis: { ...text, gridColor: token("line"), domainColor: token("line"), tickColor: token("line") },
      legend: text,
    },
  };
}
