import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, until } from "./page.js";
import { after, before, startServer, status } from "./server.js";

const soon = { status: "succeeded", after: 60 };

async function shop(t) {
  const server = await startServer(t);
  return { server, browser: new Browser(t, server) };
}

test("a reload before the answer goes on with the same request", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [after];
  const page = browser.open({ timing: { backoff: 60_000, backoffCap: 60_000, giveUp: 600_000 } }, { random: () => 1 });
  void page.pay().catch(() => undefined);
  await until("the loss", () => page.checkout.state.offline);
  browser.crash(page);
  const again = browser.open();
  assert.equal(again.checkout.state.phase, "idle");
  const looked = again.checkout.resume();
  await until("the attempt", () => again.checkout.state.attempt);
  assert.equal(again.phases()[0], "checking", "a page that was reloaded does not say that it is sending");
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await looked).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(new Set(server.bodies).size, 1);
});

test("a reload after the answer asks and does not pay", async (t) => {
  const { server, browser } = await shop(t);
  const page = browser.open();
  void page.pay().catch(() => undefined);
  await until("the attempt", () => page.checkout.state.attempt);
  assert.deepEqual(browser.kept().bodies, [], "what was answered is not kept");
  browser.crash(page);
  const again = browser.open();
  const looked = again.checkout.resume();
  await until("the attempt", () => again.checkout.state.attempt);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await looked).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
  assert.equal(browser.kept().token, undefined, "a token that is no longer needed is not kept");
  const third = browser.open();
  assert.equal((await third.checkout.resume()).phase, "succeeded");
});

test("a page that the customer comes back to has the provider asked at once", async (t) => {
  const { server, browser } = await shop(t);
  const page = browser.open();
  void page.pay().catch(() => undefined);
  await until("the attempt", () => page.checkout.state.attempt);
  assert.deepEqual(server.checks, [], "the page that has just paid has no news to ask for");
  browser.crash(page);
  server.asked = (a) => a.status === "pending" && server.finish(a, "succeeded");
  assert.equal((await browser.open().checkout.resume()).phase, "succeeded");
  assert.deepEqual(server.checks, [server.attempts[0].payment_attempt_id]);
});

test("a page whose question is refused follows all the same", async (t) => {
  const { server, browser } = await shop(t);
  const page = browser.open();
  void page.pay().catch(() => undefined);
  await until("the attempt", () => page.checkout.state.attempt);
  browser.crash(page);
  server.refusesChecks = true;
  const looked = browser.open().checkout.resume();
  await until("the question", () => server.checks.length === 1);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await looked).phase, "succeeded");
});

test("a press of long ago is not sent by a page that opens", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [before];
  const page = browser.open({ timing: { backoff: 60_000, backoffCap: 60_000, giveUp: 600_000 } }, { random: () => 1 });
  void page.pay().catch(() => undefined);
  await until("the loss", () => page.checkout.state.offline);
  browser.crash(page);
  const again = browser.open({ timing: { resendWithin: -1 } });
  assert.equal((await again.checkout.resume()).phase, "unknown");
  assert.equal(server.count(/^POST/), 1);
  server.later = soon;
  assert.equal((await again.pay()).phase, "succeeded", "a press is");
  assert.equal(new Set(server.keys).size, 1);
});

for (const [name, abort] of [
  ["before", (page) => page.checkout.close()],
  ["at hearing of it, before", (page) => { page.states.push = () => page.checkout.close(); }],
]) {
  test(`a press that was ended ${name} it was sent is not sent by the next page`, async (t) => {
    const { server, browser } = await shop(t);
    const page = browser.open();
    abort(page);
    await assert.rejects(page.pay(), { name: "AbortError" });
    assert.equal(browser.kept(), null);
    assert.equal((await browser.open().checkout.resume()).phase, "idle");
    assert.equal(server.count(/^POST/), 0);
  });
}

test("a page that is ended forgets nothing", async (t) => {
  const { browser } = await shop(t);
  const was = JSON.stringify({ key: "k".repeat(32), at: Date.now(), bodies: [], end: "failed" });
  browser.storage.set("paylatch:A-1", was);
  const page = browser.open({ attempt: "another" });
  page.checkout.close();
  await assert.rejects(page.checkout.resume(), { name: "AbortError" });
  assert.equal(browser.storage.get("paylatch:A-1"), was);
});

test("a press whose age the clock does not tell is not sent by a page that opens", async (t) => {
  const { server, browser } = await shop(t);
  for (const at of [Date.now() + 24 * 3_600_000, undefined]) {
    browser.storage.set("paylatch:A-1", JSON.stringify({ key: "k".repeat(32), at, bodies: ["{}"] }));
    assert.equal((await browser.open().checkout.resume()).phase, "unknown");
  }
  assert.equal(server.count(/^POST/), 0);
  server.later = soon;
  browser.storage.set("paylatch:A-1", JSON.stringify({ key: "k".repeat(32), at: Date.now() + 5_000, bodies: ["{}"] }));
  assert.equal((await browser.open().checkout.resume()).phase, "succeeded", "a clock may be put right by seconds");
});

for (const [name, fault, wanted] of [
  ["arrived", after, "tok_first"],
  ["was lost", before, "tok_second"],
]) {
  test(`another card after a press that ${name}`, async (t) => {
    const { server, browser } = await shop(t);
    server.payFaults = [fault];
    const page = browser.open({ timing: { backoff: 60_000, backoffCap: 60_000, giveUp: 600_000 } }, { random: () => 1 });
    void page.pay("tok_first").catch(() => undefined);
    await until("the loss", () => page.checkout.state.offline);
    browser.crash(page);
    const again = browser.open({ timing: { resendWithin: -1 } });
    await again.checkout.resume();
    const paid = again.pay("tok_second");
    await until("the attempt", () => again.checkout.state.attempt);
    server.finish(server.attempts[0], "succeeded");
    assert.equal((await paid).phase, "succeeded");
    assert.equal(server.attempts.length, 1);
    assert.match(server.attempts[0].body, new RegExp(wanted));
    assert.equal(new Set(server.keys).size, 1);
  });
}

for (const [name, environment] of [
  ["storage that throws", { storage: { getItem: fail, setItem: fail, removeItem: fail } }],
  ["storage that is full", { storage: { getItem: () => null, setItem: fail, removeItem: () => undefined } }],
  ["no storage", { storage: null }],
  ["no storage, locks or channels", { storage: null, locks: null, channel: null, events: null }],
  ["channels that throw", { channel: fail }],
  ["locks that are refused", { locks: { request: async () => fail() } }],
]) {
  test(`works with ${name}`, async (t) => {
    const { server, browser } = await shop(t);
    server.payFaults = [after, before];
    server.later = soon;
    const page = browser.open({}, environment);
    assert.equal((await page.pay()).phase, "succeeded");
    assert.equal(new Set(server.keys).size, 1);
    assert.equal(server.attempts.length, 1);
  });
}

function fail() {
  throw new DOMException("not here", "SecurityError");
}

for (const [name, look] of [
  ["a press", (page) => page.pay()],
  ["a look", (page) => page.checkout.resume()],
]) {
  test(`without storage ${name} goes on under the same key`, async (t) => {
    const { server, browser } = await shop(t);
    server.payFaults = Array(1000).fill(before);
    const page = browser.open({ timing: { giveUp: 300 } }, { storage: null });
    assert.equal((await page.pay()).phase, "unknown");
    server.payFaults = [];
    server.later = soon;
    assert.equal((await look(page)).phase, "succeeded");
    assert.equal(new Set(server.keys).size, 1);
    assert.equal(server.attempts.length, 1);
  });
}

test("without storage a page that comes back from the bank goes on", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { stage: "awaiting_customer", next_action: { type: "redirect", url: "https://bank.example/pay/1" } };
  const page = browser.open({}, { storage: null });
  const paid = page.pay();
  await until("the redirect", () => page.redirects.length);
  page.leave();
  server.finish(server.attempts[0], "succeeded");
  page.back();
  assert.equal((await paid).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("what is kept and can't be read counts as nothing", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  for (const text of ["{", "null", "[]", '{"key":1}', '{"key":"k"}']) {
    browser.storage.set("paylatch:A-1", text);
    assert.equal((await browser.open().checkout.resume()).phase, "idle");
  }
  assert.equal((await browser.open().pay()).phase, "succeeded");
});

test("leaving the page and coming back goes on where it was", async (t) => {
  const { server, browser } = await shop(t);
  const page = browser.open();
  const paid = page.pay();
  await until("the attempt", () => page.checkout.state.attempt);
  page.leave();
  await until("silence", () => server.attempts[0].listeners.size === 0);
  await until("a lock that is free for another tab", () => browser.locks.held.size === 0);
  assert.equal(browser.channels.size, 0, "an open channel would keep the page out of the cache");
  server.finish(server.attempts[0], "succeeded");
  page.back();
  assert.equal((await paid).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("left during the pay, the page sends it again under the same key", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [() => undefined];
  server.later = soon;
  const page = browser.open();
  const paid = page.pay();
  await until("the pay", () => server.keys.length);
  page.leave();
  page.back();
  assert.equal((await paid).phase, "succeeded");
  assert.deepEqual(new Set(server.keys).size, 1);
  assert.equal(server.keys.length, 2);
});

test("a page that comes back after the end shows it", async (t) => {
  const { server, browser } = await shop(t);
  const page = browser.open();
  page.leave();
  const other = browser.open();
  server.later = soon;
  await other.pay();
  page.back();
  await until("the end", () => page.checkout.state.phase === "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("a new key comes only after the order takes one", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { status: "failed", stage: "final", can_start_new_attempt: false };
  const page = browser.open();
  let end = await page.pay();
  assert.equal(end.phase, "failed");
  assert.equal(end.canPay, false);
  end = await page.pay();
  assert.equal(end.canPay, false);
  assert.equal(server.count(/^POST/), 1, "it asked, and did not pay");
  assert.equal(server.count(/^GET/), 1);
  server.attempts[0].can_start_new_attempt = true; // no new version: another attempt's money went back
  server.becomes = { status: "pending" };
  server.later = soon;
  end = await page.pay();
  assert.equal(end.phase, "succeeded");
  assert.equal(server.attempts.length, 2);
  assert.equal(new Set(server.keys).size, 2);
});

test("a failure that allows another try may stop allowing it", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { status: "failed", stage: "final", can_start_new_attempt: true };
  const page = browser.open();
  assert.equal((await page.pay()).canPay, true);
  server.attempts[0].can_start_new_attempt = false;
  const again = browser.open();
  assert.equal((await again.checkout.resume()).canPay, false, "a reload asks");
  assert.equal((await page.pay()).canPay, false, "a press asks");
  assert.equal(server.count(/^POST/), 1);
});

test("to check again begins no payment", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { status: "failed", stage: "final", can_start_new_attempt: true };
  await browser.open().pay();
  server.readFaults = Array(1000).fill(before);
  const page = browser.open({ timing: { giveUp: 300 } });
  assert.equal((await page.checkout.resume()).phase, "unknown");
  server.readFaults = [];
  const end = await page.pay();
  assert.equal(end.phase, "failed");
  assert.equal(end.canPay, true);
  assert.equal(server.count(/^POST/), 1, "it looked");
  server.becomes = {};
  server.later = soon;
  assert.equal((await page.pay()).phase, "succeeded", "the next press pays");
  assert.equal(server.attempts.length, 2);
});

test("a failure after which nobody tells offers a pay, and no other one", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { status: "failed", stage: "final", can_start_new_attempt: true };
  await browser.open().pay();
  server.readFaults = [401, 403, 404].map((code) => status(code));
  for (let i = 0; i < 3; i++) {
    const page = browser.open();
    const end = await page.checkout.resume();
    assert.equal(end.phase, "idle");
    assert.equal(end.canPay, true);
    page.checkout.close();
  }
  server.readFaults = [status(401)];
  server.attempts[0].status = "succeeded"; // the order judges
  assert.equal((await browser.open().pay()).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
});
