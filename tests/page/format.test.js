// Times and numbers as people read them.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  minutes,
  number,
  plural,
  seconds,
  tenths,
  thought,
  waits,
} from "../../adapters/web/page/static/format.js";

/** @type {[string, (value: number) => string, Record<string, number>][]} */
const CASES = [
  ["minutes", minutes, { "0:00": 0, "0:09": 9.99, "1:00": 60, "61:01": 3661 }],
  ["seconds", seconds, { "0.0 s": 0, "0.8 s": 812, "59.9 s": 59_900, "1:00": 60_000 }],
  ["thought", thought, { "0 ms": 0, "812 ms": 812, "3.9 s": 3_900, "4:05": 245_000 }],
  ["waits", waits, { "1 waits": 1, "2 wait": 2 }],
  ["number", number, { 7: 7, "12,345": 12_345 }],
];

for (const [name, format, texts] of CASES) {
  test(name, () => {
    for (const [text, value] of Object.entries(texts)) assert.equal(format(value), text);
  });
}

test("tenths are cut off, so that 0.0 is when the flag falls", () => {
  assert.equal(tenths(0.09), "0.0");
  assert.equal(tenths(9.99), "9.9");
});

test("one of something is singular", () => {
  assert.equal(plural(1, "game"), "1 game");
  assert.equal(plural(1_000, "game"), "1,000 games");
});
