// When something begins, in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../../adapters/web/page/static/countdown.js";

const AT = Date.parse("2026-11-27T14:20:00");

test("a time in less than ten minutes is a clock that counts down", () => {
  assert.equal(textOf(AT, AT - 160_000, true), "in about 2:40");
  assert.equal(textOf(AT, AT - 599_000, false), "in 9:59");
});

test("a later time is a time of day", () => {
  assert.equal(textOf(AT, AT - 600_000, true), "about 14:20");
  assert.equal(textOf(AT, AT - 600_000, false), "at 14:20");
});

test("a time on another day has its date", () => {
  const text = textOf(AT, AT - 24 * 3_600_000, false);
  assert.match(text, /^at .*27.*14:20$/);
});

test("a time that has passed is near, and never negative", () => {
  assert.equal(textOf(AT, AT + 5_000, true), "soon");
  assert.equal(textOf(AT, AT, false), "now");
});
