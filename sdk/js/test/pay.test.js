import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, fast, until } from "./page.js";
import { after, before, busy, hang, problem, startServer, status } from "./server.js";

const soon = { status: "succeeded", after: 60 };

async function shop(t) {
  const server = await startServer(t);
  return { server, browser: new Browser(t, server) };
}

test("a press that nothing disturbs", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  const page = browser.open();
  assert.equal(page.checkout.state.phase, "idle");
  const end = await page.pay();
  assert.equal(end.phase, "succeeded");
  assert.equal(end.canPay, false);
  assert.deepEqual(page.phases(), ["sending", "checking", "succeeded"]);
  assert.equal(server.attempts.length, 1);
  assert.equal(server.count(/^POST/), 1);
  assert.match(server.keys[0], /^[0-9a-f]{32}$/);
  assert.equal(end.attempt.status_token, undefined, "the page's state holds no token");
});

test("a double press is one press", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  const page = browser.open();
  const [one, two] = await Promise.all([page.pay(), page.pay(), page.pay()]);
  assert.equal(one, two);
  assert.equal(server.count(/^POST/), 1);
});

test("a press while the page looks at what it knows is not lost", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  const page = browser.open();
  void page.checkout.resume();
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
});

for (const [name, fault, phase] of [
  ["a connection that breaks before the pay arrives", before, "checking"],
  ["an answer that is lost", after, "checking"],
  ["a server that never answers", hang, "checking"],
  ["a proxy's 502", status(502), "checking"],
  ["a 500 that may hide anything", async (r, act) => after(status(500)(r), act), "checking"],
  ["a success that can't be read", status(200), "checking"],
]) {
  test(name + " is retried under the same key", async (t) => {
    const { server, browser } = await shop(t);
    server.later = soon;
    server.payFaults = fault === hang ? [fault] : [fault, fault, fault];
    const wanted = server.payFaults.length + 1;
    const page = browser.open(fault === hang ? { timing: { requestTimeout: 4000 } } : {});
    const end = await page.pay();
    assert.equal(end.phase, "succeeded");
    assert.equal(server.keys.length, wanted);
    assert.equal(new Set(server.keys).size, 1);
    assert.equal(new Set(server.bodies).size, 1);
    assert.equal(server.attempts.length, 1);
    assert.ok(page.phases().includes(phase));
  });
}

test("a server that asks for patience gets it", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  server.payFaults = [busy(300), status(503, { "Retry-After": "1" })];
  const page = browser.open();
  await page.pay();
  const [first, second, third] = server.times;
  assert.ok(second - first >= 300, `came back after ${second - first} ms`);
  assert.ok(third - second >= 1000, `came back after ${third - second} ms`);
});

test("pauses double up to a cap, and chance shortens them", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = Array(10).fill(before);
  server.later = soon;
  const page = browser.open({ timing: { backoff: 40, backoffCap: 150 } }, { random: () => 1 });
  await page.pay();
  const pauses = server.times.slice(1, 11).map((at, i) => at - server.times[i]);
  for (const [i, least] of [40, 80, ...Array(8).fill(150)].entries()) {
    assert.ok(pauses[i] >= least - 2, `pause ${i} took ${pauses[i]} ms`);
  }
  assert.ok(pauses[9] < 40 * 2 ** 9, `without a cap it would be 20480 ms, and took ${pauses[9]} ms`);
  server.payFaults = Array(6).fill(before);
  server.attempts.length = 0;
  const lucky = new Browser(t, server).open({ timing: { backoff: 60_000, backoffCap: 60_000 } }, { random: () => 0 });
  const began = Date.now();
  await lucky.pay();
  assert.ok(Date.now() - began < 50_000, "full jitter goes down to nothing");
});

test("the network's return ends a pause", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  server.payFaults = [before];
  const page = browser.open({ timing: { backoff: 60_000, backoffCap: 60_000, giveUp: 600_000 } }, { random: () => 1 });
  const paid = page.pay();
  await until("the pause", () => page.checkout.state.offline);
  page.events.dispatchEvent(new Event("online"));
  assert.equal((await paid).phase, "succeeded");
});

test("what must not be retried is not", async (t) => {
  const { server, browser } = await shop(t);
  server.refusal = [422, "validation-failed"];
  const page = browser.open();
  const end = await page.pay();
  assert.equal(end.phase, "refused");
  assert.equal(end.problem.code, "validation-failed");
  assert.equal(end.canPay, true);
  assert.equal(server.keys.length, 1);
  server.refusal = null;
  server.later = soon;
  assert.equal((await page.pay("tok_other")).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 1, "the key was not used up");
  assert.equal(server.attempts.length, 1);
});

test("a refusal after a lost answer does not prove that nothing was begun", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [after, (r) => problem(r, 403, "forbidden")];
  const page = browser.open();
  const end = await page.pay();
  assert.equal(end.phase, "unknown");
  assert.equal(browser.kept().bodies.length, 1);
  server.later = soon;
  setTimeout(() => server.finish(server.attempts[0], "succeeded"), 50);
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(server.attempts.length, 1);
});

for (const [name, refusal, phase] of [
  ["of the shop's own", (r) => problem(r, 422, "", { type: "about:blank" }), "unknown"],
  ["that is no problem", status(422), "unknown"],
  ["of the form by paylatch", (r) => problem(r, 422, "validation-failed"), "refused"],
  ["of the user for whom it is", (r) => problem(r, 422, "validation-failed", { errors: [{ field: "On-Behalf-Of", message: "no" }] }), "unknown"],
  ["of one user too few", (r) => problem(r, 400, "malformed-request"), "unknown"],
  ["of a header", (r) => problem(r, 415, "unsupported-media-type"), "unknown"],
  ["of an order that is not found", (r) => problem(r, 404, "not-found"), "unknown"],
]) {
  test(`a refusal ${name} after a lost try is ${phase}`, async (t) => {
    const { server, browser } = await shop(t);
    server.payFaults = [before, refusal];
    const page = browser.open();
    assert.equal((await page.pay()).phase, phase);
    assert.equal(browser.kept().bodies.length, phase === "unknown" ? 1 : 0);
    server.later = soon;
    assert.equal((await page.pay()).phase, "succeeded");
    assert.equal(new Set(server.keys).size, 1);
    assert.equal(server.attempts.length, 1);
  });
}

test("a failure of the way that no retry mends does not prove that nothing was begun", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [async (r, act) => after(status(524)(r), act)];
  const page = browser.open();
  assert.equal((await page.pay()).phase, "unknown");
  assert.equal(browser.kept().bodies.length, 1);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(server.attempts.length, 1);
});

/** A browser that keeps a key, and a server where that key is another body's. */
async function takenKey(t, bodies, theirs) {
  const { server, browser } = await shop(t);
  browser.storage.set("paylatch:A-1", JSON.stringify({ key: "k".repeat(32), at: Date.now(), bodies }));
  return { server, browser, theirs: server.attempt({ key: "k".repeat(32), body: "forgotten", ...theirs }) };
}

for (const [name, change, attempts] of [
  ["is pending", {}, 1],
  ["is authorised", { stage: "authorized" }, 1],
  ["has succeeded", { status: "succeeded" }, 1],
  ["has failed", { status: "failed" }, 2],
]) {
  test(`a press whose key belongs to a forgotten one that ${name} is the order's to judge`, async (t) => {
    const { server, browser, theirs } = await takenKey(t, [], change);
    server.later = soon;
    const page = browser.open({ statusUrl: server.url + "/shop/status" });
    const paid = page.pay("tok_other");
    if (theirs.status === "pending") {
      await until("the attempt", () => page.checkout.state.attempt);
      server.finish(theirs, "succeeded");
    }
    assert.equal((await paid).phase, "succeeded");
    assert.ok(!page.phases().includes("refused"));
    assert.equal(server.attempts.length, attempts);
    assert.equal(new Set(server.keys).size, 2);
    assert.equal((await browser.open().checkout.resume()).phase, "succeeded");
  });
}

for (const [name, timing, look] of [
  ["a look", {}, (page) => page.checkout.resume()],
  ["to check again", { resendWithin: -1 }, (page) => page.checkout.resume().then(() => page.pay())],
]) {
  test(`${name} under a key that belongs to a forgotten press begins nothing, and the next press is the order's to judge`, async (t) => {
    const { server, browser } = await takenKey(t, ["{}"], { status: "failed" });
    server.later = soon;
    const page = browser.open({ timing });
    const end = await look(page);
    assert.equal(end.phase, "unknown");
    assert.equal(end.problem.code, "idempotency-key-reused");
    if (name === "a look") {
      assert.equal((await browser.open().checkout.resume()).phase, "unknown", "so is the next");
      await until("its end to be told", () => browser.locks.held.size === 0 && page.checkout.state.phase === "unknown");
      assert.equal((await page.pay()).phase, "unknown");
    }
    assert.equal((await page.pay()).phase, "idle", "to check again begins nothing");
    assert.equal(server.attempts.length, 1);
    assert.equal((await page.pay()).phase, "succeeded");
    assert.equal(server.attempts.length, 2);
  });
}

test("a refusal under a new key does not prove that nothing was begun under the one that is taken", async (t) => {
  const { server, browser, theirs } = await takenKey(t, [], {});
  server.payFaults = [undefined, (r) => problem(r, 403, "form-token-used")];
  const page = browser.open({ statusUrl: server.url + "/shop/status" });
  assert.equal((await page.pay("tok_other")).phase, "unknown");
  assert.equal((await browser.open().checkout.resume()).phase === "idle", false);
  server.finish(theirs, "succeeded");
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
});

test("a server whose keys are all taken ends in doubt", async (t) => {
  const { server, browser } = await shop(t);
  server.refusal = [409, "idempotency-key-reused"];
  assert.equal((await browser.open().pay()).phase, "unknown");
  assert.equal(server.count(/^POST/), 2);
});

test("a press for an order that was not found has used up its key", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [(r) => problem(r, 404, "not-found")];
  server.later = soon;
  const page = browser.open();
  assert.equal((await page.pay()).phase, "refused");
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 2);
  assert.equal(server.attempts.length, 1);
});

test("the looking ends, and a later look goes on under the same key", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = Array(1000).fill(after);
  const page = browser.open({ timing: { giveUp: 300 } });
  const end = await page.pay();
  assert.equal(end.phase, "unknown");
  assert.equal(end.canPay, true);
  server.payFaults = [];
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await page.checkout.resume()).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 1);
});

test("an abort ends all work and nothing else", async (t) => {
  const { server, browser } = await shop(t);
  const abort = new AbortController();
  const page = browser.open({ signal: abort.signal });
  const paid = page.pay();
  await until("the stream", () => server.attempts[0]?.listeners.size);
  abort.abort();
  await assert.rejects(paid, { name: "AbortError" });
  const requests = server.log.length;
  await new Promise((r) => setTimeout(r, 100));
  assert.equal(server.log.length, requests);
  assert.equal(server.attempts[0].status, "pending");
  await assert.rejects(browser.open({ signal: abort.signal }).pay(), { name: "AbortError" });
});

test("the customer is taken to the provider's page once, by the press", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { stage: "awaiting_customer", next_action: { type: "redirect", url: "https://bank.example/pay/1" } };
  const page = browser.open();
  void page.pay().catch(() => undefined);
  await until("the redirect", () => page.redirects.length);
  assert.deepEqual(page.redirects, ["https://bank.example/pay/1"]);
  assert.equal(page.checkout.state.phase, "action");
  browser.crash(page);
  const again = browser.open();
  const looked = again.checkout.resume();
  await until("the attempt", () => again.checkout.state.phase === "action");
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await looked).phase, "succeeded");
  assert.deepEqual(again.redirects, []);
  assert.equal(server.count(/^POST/), 1);
});

test("an address that is no web page is not gone to", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { stage: "awaiting_customer", next_action: { type: "redirect", url: "javascript:alert(1)" } };
  const page = browser.open();
  void page.pay().catch(() => undefined);
  await until("the attempt", () => page.checkout.state.phase === "action");
  assert.deepEqual(page.redirects, []);
});

test("with a customer's token the page pays by itself", async (t) => {
  const { server, browser } = await shop(t);
  server.later = soon;
  server.payFaults = [(r) => problem(r, 401, "unauthenticated")];
  let asked = 0;
  const page = browser.open({ payUrl: undefined, authorization: async () => (asked++, "customer") });
  assert.equal((await page.pay()).phase, "succeeded");
  assert.ok(server.log.includes("POST /v1/orders/A-1/pay"));
  assert.equal(asked >= 2, true, "a token that has expired is renewed");
  assert.equal(new Set(server.keys).size, 1);
  server.payFaults = Array(9).fill((r) => problem(r, 401, "unauthenticated"));
  server.attempts.length = 0;
  const other = new Browser(t, server).open({ payUrl: undefined, authorization: () => "customer" });
  assert.equal((await other.pay()).phase, "refused");
  assert.equal(server.payFaults.length, 7, "once");
});

test("somebody must be paid", async (t) => {
  const { browser } = await shop(t);
  assert.throws(() => browser.open({ payUrl: undefined }), TypeError);
});

// Faults at random: whatever happens, one attempt and the truth.
test("many rounds of chance", async (t) => {
  const faults = [before, after, status(500), status(502), status(429), busy(5), hang, null, null];
  const pick = () => faults[Math.floor(Math.random() * faults.length)];
  await Promise.all(Array.from({ length: 40 }, async (_, round) => {
    const server = await startServer(t);
    const browser = new Browser(t, server);
    const status = round % 2 ? "succeeded" : "failed";
    server.later = { status, after: Math.random() * 100 };
    server.stream = round % 3 > 0;
    server.wait = round % 5 > 0;
    const some = () => Array.from({ length: 5 }, pick).map((f) => f ?? ((r, act) => act()));
    server.payFaults = some();
    server.readFaults = some();
    const timing = { ...fast, requestTimeout: 400, firstEvent: 400 };
    const page = browser.open({ timing });
    void page.pay().catch(() => undefined);
    await until("some request", () => server.log.length);
    if (round % 4 === 0) browser.crash(page);
    const last = round % 4 === 0 ? browser.open({ timing }) : page;
    const end = await last.checkout.resume();
    assert.equal(end.phase, status, JSON.stringify([round, end, server.log]));
    assert.equal(new Set(server.keys).size, 1);
    assert.equal(server.attempts.length, 1);
  }));
});
