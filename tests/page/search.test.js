// Which suggestion a key chooses.
import assert from "node:assert/strict";
import { test } from "node:test";

import { chosenAfter } from "../../adapters/web/page/static/search.js";

test("arrows go through the suggestions and past their ends back to the field", () => {
  const down = [-1, 0, 1, 2].map((chosen) => chosenAfter("ArrowDown", chosen, 3));
  assert.deepEqual(down, [0, 1, 2, -1]);
  const up = [-1, 0, 1, 2].map((chosen) => chosenAfter("ArrowUp", chosen, 3));
  assert.deepEqual(up, [2, -1, 0, 1]);
});

test("other keys, and any key without suggestions, choose nothing", () => {
  assert.equal(chosenAfter("a", 0, 3), null);
  assert.equal(chosenAfter("ArrowDown", -1, 0), null);
});
