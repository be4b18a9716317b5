import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, until } from "./page.js";
import { before, busy, problem, startServer, status } from "./server.js";

/** A page whose attempt is pending and followed. */
async function pending(t, change = () => undefined, options = {}) {
  const server = await startServer(t);
  change(server);
  const page = new Browser(t, server).open(options);
  const paid = page.pay();
  await until("the attempt", () => page.checkout.state.attempt);
  return { server, page, paid, a: server.attempts[0] };
}

test("a stream is enough", async (t) => {
  const { server, page, paid, a } = await pending(t);
  await until("the stream", () => a.listeners.size);
  server.move(a, { stage: "outcome_unknown" });
  await until("the news", () => page.checkout.state.attempt.stage === "outcome_unknown");
  server.finish(a, "succeeded");
  assert.equal((await paid).attempt.version, 3);
  assert.deepEqual(server.log.slice(1), [`GET /v1/payment-attempts/${a.payment_attempt_id}/stream`]);
  assert.ok(server.tokens.slice(1).every((value) => value === "Bearer pst_one"), "the status token reads, nothing else");
});

test("a stream that ends is opened again", async (t) => {
  const { server, paid, a } = await pending(t, (s) => {
    s.readFaults = [(r, act) => (act(), setTimeout(() => r.end(), 20))];
  });
  await until("the second", () => server.count(/stream$/) === 2);
  await until("the stream", () => a.listeners.size);
  server.finish(a, "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

for (const [name, spoil] of [
  ["is not there", (s) => { s.stream = false; }],
  ["is kept back by a proxy", (s) => { s.readFaults = [(r) => r.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders()]; }],
  ["is something else", (s) => { s.readFaults = [status(200, { "Content-Type": "text/html" })]; }],
  ["is not allowed", (s) => { s.readFaults = [(r) => problem(r, 406, "not-acceptable")]; }],
  ["breaks twice", (s) => { s.readFaults = [before, before]; }],
]) {
  test(`a stream that ${name} gives way to a long poll`, async (t) => {
    const { server, paid, a } = await pending(t, spoil, name.includes("kept back") ? { timing: { firstEvent: 300 } } : {});
    await until("the long poll", () => server.count(/^GET .*[^m]$/) > 0 && a.listeners.size);
    const asked = server.count(/^GET/);
    await new Promise((r) => setTimeout(r, 150));
    assert.equal(server.count(/^GET/), asked, "it waits and does not ask again");
    server.finish(a, "succeeded");
    assert.equal((await paid).phase, "succeeded");
  });
}

test("a server that does not wait is polled at its own pace", async (t) => {
  const { server, paid, a } = await pending(t, (s) => {
    s.stream = s.wait = false;
    s.becomes = { next_poll_ms: 80 };
  });
  await until("some polls", () => server.count(/^GET .*[^m]$/) >= 4);
  const polls = server.times.slice(-3);
  for (const [i, at] of polls.slice(1).entries()) assert.ok(at - polls[i] >= 78, `asked after ${at - polls[i]} ms`);
  server.finish(a, "failed");
  assert.equal((await paid).phase, "failed");
});

test("long polls that break give way to polls", async (t) => {
  const { server, paid, a } = await pending(t, (s) => {
    s.stream = false;
    s.readFaults = [(r, act) => act(), before, before];
  });
  await until("polls", () => server.count(/^GET .*[^m]$/) >= 5);
  server.finish(a, "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

test("a busy server is left alone for as long as it asks", async (t) => {
  const { server, paid, a } = await pending(t, (s) => { s.readFaults = [busy(300)]; });
  await until("the next", () => server.count(/^GET/) === 2);
  assert.ok(server.times.at(-1) - server.times.at(-2) >= 300);
  server.finish(a, "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

test("a page without a network says so and finds out later", async (t) => {
  const { server, page, paid, a } = await pending(t, (s) => { s.readFaults = Array(6).fill(before); });
  await until("the loss", () => page.checkout.state.offline);
  assert.equal(page.checkout.state.phase, "checking");
  server.finish(a, "succeeded");
  const end = await paid;
  assert.equal(end.phase, "succeeded");
  assert.equal(end.offline, false);
});

test("an address that the page is kept from leaves the shop's own", async (t) => {
  const server = await startServer(t);
  const page = new Browser(t, server).open({ apiUrl: "http://127.0.0.1:1", statusUrl: server.url + "/shop/status" });
  const paid = page.pay();
  await until("the shop", () => server.log.includes("GET /shop/status"));
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

for (const [name, fault] of [
  ["the shop's own page", status(200, { "Content-Type": "text/html" })],
  ["nothing but 500", status(500)],
  ["what no retry mends", (r) => problem(r, 410, "gone")],
]) {
  test(`an address that answers ${name} leaves the shop's own`, async (t) => {
    const server = await startServer(t), api = await startServer(t);
    api.readFaults = { shift: () => fault };
    const page = new Browser(t, server).open({ apiUrl: api.url, statusUrl: server.url + "/shop/status" });
    const paid = page.pay();
    await until("the shop", () => server.log.includes("GET /shop/status"));
    server.finish(server.attempts[0], "succeeded");
    assert.equal((await paid).phase, "succeeded");
  });
}

test("where nobody is left to ask, the last refusal is told", async (t) => {
  const server = await startServer(t);
  server.readFaults = Array(1000).fill((r) => problem(r, 410, "gone"));
  const end = await new Browser(t, server).open({ statusUrl: server.url + "/shop/status" }).pay();
  assert.equal(end.phase, "unknown");
  assert.equal(end.problem.code, "gone");
  assert.ok(server.log.includes("GET /shop/status"));
});

test("a status token that has expired leaves the shop's own address", async (t) => {
  const server = await startServer(t);
  const page = new Browser(t, server).open({ statusUrl: server.url + "/shop/status" });
  server.readFaults = [(r) => problem(r, 401, "unauthenticated")];
  const paid = page.pay();
  await until("the shop", () => server.log.includes("GET /shop/status"));
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

test("a status token that has expired, and nobody else to ask: unknown", async (t) => {
  const server = await startServer(t);
  const page = new Browser(t, server).open();
  server.readFaults = [(r) => problem(r, 401, "unauthenticated")];
  const end = await page.pay();
  assert.equal(end.phase, "unknown");
  assert.equal(end.problem.code, "unauthenticated");
  assert.equal(server.count(/^POST/), 1);
});

for (const [name, hours] of [
  ["long ago", -25],
  ["before the clock was set back", 25],
]) {
  test(`an attempt whose token has expired ${name}, and nobody else to ask, leaves the next press to the order`, async (t) => {
    const server = await startServer(t), browser = new Browser(t, server);
    const page = browser.open();
    void page.pay().catch(() => undefined);
    await until("the attempt", () => page.checkout.state.attempt);
    browser.crash(page);
    browser.storage.set("paylatch:A-1", JSON.stringify({ ...browser.kept(), at: Date.now() + hours * 3_600_000 }));
    const expired = () => { server.readFaults = [(r) => problem(r, 401, "unauthenticated")]; server.refusesChecks = true; };
    expired();
    const asked = browser.open({ statusUrl: server.url + "/shop/status", timing: { giveUp: 300, wait: 100 } });
    assert.equal((await asked.checkout.resume()).phase, "unknown", "somebody else tells that it is pending");
    server.finish(server.attempts[0], "failed");
    expired();
    const late = browser.open();
    const end = await late.checkout.resume();
    assert.equal(end.phase, "idle");
    assert.equal(end.canPay, true);
    server.later = { status: "succeeded", after: 30 };
    assert.equal((await late.pay()).phase, "succeeded");
    assert.equal(server.attempts.length, 2);
  });
}

test("a token that is refused before its day is over is given up when the payment is asked for again, and the order judges", async (t) => {
  const server = await startServer(t), browser = new Browser(t, server);
  const first = browser.open();
  void first.pay().catch(() => undefined);
  await until("the attempt", () => first.checkout.state.attempt);
  browser.crash(first);
  server.finish(server.attempts[0], "failed");
  server.readFaults = { shift: () => (r) => problem(r, 401, "unauthenticated") };
  server.refusesChecks = true;
  const page = browser.open();
  assert.equal((await page.checkout.resume()).phase, "unknown");
  assert.equal((await browser.open().checkout.resume()).phase, "unknown", "a look gives up nothing");
  assert.equal((await page.pay()).phase, "idle");
  assert.equal(server.count(/^POST/), 1, "to check again begins nothing");
  server.readFaults = [];
  server.later = { status: "succeeded", after: 30 };
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(server.attempts.length, 2);
});

test("a payment that nobody tells of is given up when it is asked for again, and the order judges", async (t) => {
  const server = await startServer(t), browser = new Browser(t, server);
  const theirs = server.attempt({ key: "another device" });
  const page = browser.open();
  assert.equal((await page.pay()).phase, "unknown");
  assert.equal((await browser.open().checkout.resume()).phase, "unknown", "a look gives up nothing");
  server.finish(theirs, "failed");
  assert.equal((await page.pay()).phase, "idle");
  assert.equal(server.count(/^POST/), 1, "to check again begins nothing");
  server.later = { status: "succeeded", after: 30 };
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(server.attempts.length, 2);
});

test("what nobody resolves ends the looking, not the payment", async (t) => {
  const { server, page, paid } = await pending(t, () => undefined, { timing: { giveUp: 300, silence: 100, wait: 100 } });
  const end = await paid;
  assert.equal(end.phase, "unknown");
  assert.equal(end.attempt.status, "pending");
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await page.checkout.resume()).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

for (const [how, change] of [["stream", {}], ["long poll", { stream: false }], ["poll", { stream: false, wait: false }]]) {
  test("a page that was suspended for longer than it looks looks on when it wakes: " + how, async (t) => {
    const { server, page, paid, a } = await pending(t, (s) => Object.assign(s, change), { timing: { giveUp: 1500, silence: 300, requestTimeout: 5000, wait: 100 } });
    await until("the page to follow", () => server.count(/^GET/) > 1 || a.listeners.size);
    // Neither the page nor its network runs meanwhile; what was on its way is lost.
    server.http.closeAllConnections();
    Object.assign(a, { status: "succeeded", stage: "final", version: a.version + 1 });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1600);
    assert.equal((await paid).phase, "succeeded");
    assert.equal(page.checkout.state.canPay, false);
  });
}

test("older news changes nothing", async (t) => {
  const { page, paid, a } = await pending(t, (s) => {
    s.becomes = { version: 5 };
    s.readFaults = [(r) => {
      r.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const version of [7, 6]) r.write(`event: status\r\nid: ${version}\r\ndata: ${JSON.stringify({ ...s.attempts[0], listeners: 0, version })}\r\n\r\n: quiet\n\n`);
    }];
  });
  await until("the news", () => page.checkout.state.attempt.version > 5);
  assert.equal(page.checkout.state.attempt.version, 7);
  page.checkout.close();
  await assert.rejects(paid);
  assert.equal(a.status, "pending");
});
