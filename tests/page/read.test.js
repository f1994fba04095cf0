import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Poll, readAnswer, readJson, readText } from "../../adapters/web/page/static/read.js";

const server = createServer((request, response) => {
  if (request.url === "/whole") response.end('{"games": 1}');
  else if (request.url === "/refused") response.writeHead(503).end('{"error": "busy"}');
  else response.writeHead(200, { "Content-Length": 9 }).write('{"gam', () => response.destroy());
});
let home = "";

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  home = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
});
after(() => server.close());

test("a whole answer is read", async () => {
  assert.equal(await readText(`${home}/whole`), '{"games": 1}');
  assert.deepEqual(await readJson(`${home}/whole`), { games: 1 });
});

for (const address of ["/refused", "/broken-off"]) {
  test(`${address} is no answer`, async () => {
    assert.equal(await readText(home + address), null);
    assert.equal(await readJson(home + address), null);
  });
}

test("an answer that refuses says why", async () => {
  assert.deepEqual(await readAnswer(`${home}/refused`), { status: 503, body: { error: "busy" } });
  assert.equal(await readAnswer(`${home}/broken-off`), null);
});

test("a server that cannot be reached gives no answer", async () => {
  assert.equal(await readJson("http://127.0.0.1:0/"), null);
});

test("a poll reads one after the other while the page is visible, and sooner if it is asked to", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const page = Object.assign(new EventTarget(), { hidden: false });
  globalThis.document = /** @type {any} */ (page);
  const readings = [];
  const poll = new Poll(
    () => new Promise((resolve) => readings.push(resolve)),
    () => 1_000,
  );
  const pass = async (milliseconds) => {
    context.mock.timers.tick(milliseconds);
    await new Promise(setImmediate);
    return readings.length;
  };
  assert.equal(await pass(999), 0);
  assert.equal(await pass(1), 1);
  poll.after(10);
  assert.equal(await pass(5_000), 1); // the first one has not ended
  readings[0]();
  assert.equal(await pass(0), 1);
  assert.equal(await pass(10), 2);
  readings[1]();
  await pass(0);
  poll.after(10);
  assert.equal(await pass(10), 3);
  readings[2]();
  page.hidden = true;
  assert.equal(await pass(5_000), 3);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(await pass(0), 4);
});
