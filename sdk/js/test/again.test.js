import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "./page.js";
import { after, before, problem, startServer, status } from "./server.js";

const key = "k".repeat(32), body = (what) => JSON.stringify({ payment_method: { token: what } });
const byShop = (r) => r.writeHead(400).end("we don't take this card");
const byPaylatch = (r) => problem(r, 422, "validation-failed");

/** A browser that has lost the answer to the press of `tok_first`, an hour ago. */
async function lost(t, change = { status: "succeeded" }) {
  const server = await startServer(t), browser = new Browser(t, server);
  const theirs = change && server.attempt({ key, body: body("tok_first"), ...change });
  browser.storage.set("paylatch:A-1", JSON.stringify({ key, at: Date.now() - 3_600_000, bodies: [body("tok_first")] }));
  return { server, browser, theirs };
}

/** Bodies that match are refused before their key is looked at. */
function refuse(server, pattern, refusal) {
  const pay = server.pay.bind(server);
  server.pay = (q, r, text) => (pattern.test(text) ? refusal(r) : pay(q, r, text));
}

for (const [name, refusal] of [["the shop", byShop], ["paylatch", byPaylatch]]) {
  test(`to check again with a card that ${name} refuses finds the payment that was made`, async (t) => {
    const { server, browser } = await lost(t);
    refuse(server, /tok_foreign/, refusal);
    const page = browser.open();
    assert.equal((await page.checkout.resume()).phase, "unknown");
    assert.equal((await page.pay("tok_foreign")).phase, "succeeded");
    assert.ok(!page.phases().includes("refused"));
    assert.deepEqual(server.bodies, [body("tok_foreign"), body("tok_first")]);
    assert.deepEqual(new Set(server.keys), new Set([key]));
    assert.equal(server.attempts.length, 1);
  });

  test(`to check again offline, with a card that ${name} refuses, does not hide the payment from the next press`, async (t) => {
    const { server, browser } = await lost(t);
    refuse(server, /tok_foreign/, refusal);
    const page = browser.open({ timing: { giveUp: 200 } });
    await page.checkout.resume();
    server.payFaults = Array(1000).fill(before);
    assert.equal((await page.pay("tok_foreign")).phase, "unknown");
    server.payFaults = [];
    assert.equal((await page.pay("tok_third")).phase, "succeeded");
    assert.equal(server.attempts.length, 1);
  });
}

test("a card that was refused at its first try was not charged, and is not kept", async (t) => {
  const { server, browser } = await lost(t);
  refuse(server, /./, byShop);
  const page = browser.open();
  await page.checkout.resume();
  for (let i = 0; i < 3; i++) assert.equal((await page.pay("tok_" + i)).phase, "unknown");
  assert.deepEqual(browser.kept().bodies, [body("tok_first")]);
  assert.equal(browser.kept().key, key);
});

test("a card that paylatch refuses leaves the one that the shop refuses in doubt", async (t) => {
  const { server, browser } = await lost(t);
  refuse(server, /tok_wrong/, byPaylatch);
  refuse(server, /tok_first/, byShop);
  const page = browser.open();
  const end = await page.pay("tok_wrong");
  assert.equal(end.phase, "unknown");
  assert.equal(end.problem.code, "validation-failed", "what was pressed is told of");
  assert.deepEqual(browser.kept().bodies, [body("tok_first")]);
});

test("a card that was not found leaves the key to the one that is in doubt", async (t) => {
  const { server, browser } = await lost(t);
  server.pay = (q, r) => problem(r, 404, "not-found");
  assert.equal((await browser.open().pay("tok_other")).phase, "unknown");
  assert.equal(browser.kept().key, key);
  assert.deepEqual(browser.kept().bodies, [body("tok_first")]);
});

for (const [name, first, second] of [
  ["another card is refused", /tok_first/, /tok_none/],
  ["the card is refused", /tok_other/, /tok_none/],
]) {
  test(`that the key belongs to a forgotten press is heard though ${name}`, async (t) => {
    const { server, browser } = await lost(t, { body: "forgotten", status: "succeeded" });
    refuse(server, first, byShop);
    refuse(server, second, byShop);
    const end = await browser.open().pay("tok_other");
    assert.equal(new Set(server.keys).size, 2, "the order judges, under a key of its own");
    assert.equal(end.phase, first.test("tok_other") ? "unknown" : "succeeded");
    assert.equal(server.attempts.length, 1);
  });
}

test("a failure of the way does not prove that the key is a forgotten press's", async (t) => {
  const { server, browser } = await lost(t, { body: "forgotten", status: "succeeded" });
  server.payFaults = [status(524)];
  assert.equal((await browser.open().pay("tok_other")).phase, "unknown");
  assert.deepEqual(server.bodies, [body("tok_other")]);
  assert.equal(browser.kept().bodies.length, 2);
});

test("presses that are lost are kept in bounds, and end once there is a network", async (t) => {
  const { server, browser } = await lost(t);
  server.payFaults = Array(10_000).fill(before);
  for (let i = 0; i < 20; i++) {
    const page = browser.open({ timing: { giveUp: 20 } });
    assert.equal((await page.pay("tok_" + i)).phase, "unknown");
    page.checkout.close();
  }
  assert.equal(browser.kept().bodies.length, 8);
  server.payFaults = [];
  assert.equal((await browser.open().pay("tok_last")).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
});

test("a refusal of another card does not prove that the first was not charged", async (t) => {
  const { server, browser } = await lost(t, null);
  server.payFaults = Array(1000).fill(after);
  const page = browser.open({ timing: { giveUp: 300 } });
  await page.pay("tok_first");
  server.payFaults = Array(2).fill((r) => problem(r, 403, "forbidden"));
  assert.equal((await page.pay("tok_second")).phase, "unknown");
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await page.checkout.resume()).phase, "succeeded");
  assert.match(server.bodies.at(-1), /tok_first/);
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(server.attempts.length, 1);
});

test("an order that is cancelled takes no pay, and is asked again", async (t) => {
  const server = await startServer(t), browser = new Browser(t, server);
  const theirs = server.attempt({ key: "another device" });
  server.refusal = [409, "order-cancelled"]; // it is being cancelled, and may be paid yet
  const page = browser.open();
  const end = await page.pay();
  assert.equal(end.phase, "cancelled");
  assert.equal(end.canPay, false);
  assert.equal((await page.checkout.resume()).phase, "cancelled", "a look asks nobody and forgets nothing");
  assert.equal((await browser.open().checkout.resume()).phase, "idle");
  assert.equal((await browser.open().pay()).phase, "cancelled");
  server.refusal = null;
  server.finish(theirs, "succeeded");
  assert.equal((await browser.open().pay()).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 3, "a refusal is replayed");
});
