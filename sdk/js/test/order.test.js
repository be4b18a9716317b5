import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, until } from "./page.js";
import { after, before, problem, startServer, status } from "./server.js";

async function shop(t) {
  const server = await startServer(t);
  return { server, browser: new Browser(t, server), other: new Browser(t, server) };
}

for (const [name, options] of [
  ["the shop's own address", (s) => ({ statusUrl: s.url + "/shop/status?order=A-1" })],
  ["a customer's token", () => ({ authorization: () => "customer" })],
]) {
  test(`another device's payment is followed by ${name}`, async (t) => {
    const { server, browser } = await shop(t);
    const theirs = server.attempt({ key: "another device" });
    const page = browser.open(options(server));
    const paid = page.pay();
    await until("the attempt", () => page.checkout.state.attempt);
    assert.equal(page.checkout.state.phase, "checking");
    assert.equal(page.checkout.state.problem.code, "payment-in-progress");
    assert.equal(page.checkout.state.attempt.payment_attempt_id, theirs.payment_attempt_id);
    server.finish(theirs, "succeeded");
    assert.equal((await paid).phase, "succeeded");
    assert.equal(server.attempts.length, 1);
    assert.equal(server.count(/^POST/), 1, "it is followed, not fought");
  });
}

test("another device's payment that fails lets this one pay", async (t) => {
  const { server, browser } = await shop(t);
  const theirs = server.attempt({ key: "another device" });
  const page = browser.open({ statusUrl: server.url + "/shop/status" });
  const paid = page.pay();
  await until("the attempt", () => page.checkout.state.attempt);
  server.finish(theirs, "failed");
  const end = await paid;
  assert.equal(end.phase, "failed");
  assert.equal(end.canPay, true);
  assert.equal(server.attempts.length, 1, "nobody has pressed here since");
  server.later = { status: "succeeded", after: 30 };
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(server.attempts.length, 2);
});

test("another device's payment of which nobody tells is unknown, not failed", async (t) => {
  const { server, browser } = await shop(t);
  server.attempt({ key: "another device" });
  const end = await browser.open().pay();
  assert.equal(end.phase, "unknown");
  assert.equal(end.attempt.status, "pending");
  assert.equal(server.count(/^POST/), 1);
});

test("a payment that only the page's server knows of is followed, and not begun again", async (t) => {
  const { server, browser } = await shop(t);
  const theirs = server.attempt({ key: "a form's" });
  const options = { statusUrl: server.url + "/shop/status", attempt: theirs.payment_attempt_id };
  const page = browser.open(options);
  const looked = page.checkout.resume();
  await until("the attempt", () => page.checkout.state.attempt);
  server.finish(theirs, "failed");
  assert.equal((await looked).canPay, true);
  server.later = { status: "succeeded", after: 30 };
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal((await page.checkout.resume()).phase, "succeeded", "it is not gone back to");
  assert.equal(server.attempts.length, 2);
  assert.equal(server.count(/^POST/), 1);
});

for (const [end, phase] of [["succeeded", "succeeded"], ["failed", "unknown"]]) {
  test(`a press of long ago is ${phase} if the attempt that the page's server knows has ${end}`, async (t) => {
    const { server, browser } = await shop(t);
    server.payFaults = Array(1000).fill(before);
    assert.equal((await browser.open({ timing: { giveUp: 200 } }).pay()).phase, "unknown");
    const { key } = browser.kept();
    server.payFaults = [];
    const theirs = server.attempt({ key: "another" });
    const sent = server.count(/^POST/);
    const options = { statusUrl: server.url + "/shop/status", attempt: theirs.payment_attempt_id, timing: { resendWithin: -1 } };
    const page = browser.open(options);
    const looked = page.checkout.resume();
    await until("the attempt", () => page.checkout.state.attempt);
    server.finish(theirs, end);
    assert.equal((await looked).phase, phase);
    assert.ok(!page.phases().includes("failed"), "what was pressed here may be another one");
    assert.equal(server.count(/^POST/), sent);
    if (end === "succeeded") return assert.equal((await browser.open().checkout.resume()).phase, "succeeded");
    assert.equal(browser.kept().key, key);
    server.later = { status: "succeeded", after: 30 };
    assert.equal((await page.pay()).phase, "succeeded");
    assert.equal(server.attempts[1].key, key);
  });
}

test("what storage knows to be under way comes before what the page's server knows", async (t) => {
  const { server, browser } = await shop(t);
  const first = browser.open();
  void first.pay().catch(() => undefined);
  await until("the attempt", () => first.checkout.state.attempt);
  browser.crash(first);
  const page = browser.open({ attempt: "another" });
  const looked = page.checkout.resume();
  await until("the attempt", () => page.checkout.state.attempt);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await looked).phase, "succeeded");
});

for (const [name, end, spoil] of [
  ["failure", "failed", (s) => { s.becomes = { status: "failed", stage: "final", can_start_new_attempt: true }; }],
  ["cancellation", "cancelled", (s) => { s.refusal = [409, "order-cancelled"]; }],
]) {
  test(`a ${name} that storage knows gives way to the payment of another device`, async (t) => {
    const { server, browser } = await shop(t);
    spoil(server);
    assert.equal((await browser.open().pay()).phase, end);
    server.refusal = null;
    const theirs = server.attempt({ key: "another device", status: "succeeded", stage: "final" });
    const options = { statusUrl: server.url + "/shop/status", attempt: theirs.payment_attempt_id };
    assert.equal((await browser.open(options).checkout.resume()).phase, "succeeded");
    assert.equal((await browser.open().checkout.resume()).phase, "succeeded");
    assert.equal(server.count(/^POST/), 1);
  });
}

test("a payment that storage knows and that failed leads to the one that the page's server knows", async (t) => {
  const { server, browser } = await shop(t);
  const first = browser.open();
  void first.pay().catch(() => undefined);
  await until("the attempt", () => first.checkout.state.attempt);
  browser.crash(first);
  server.finish(server.attempts[0], "failed", false);
  const theirs = server.attempt({ key: "another device" });
  const page = browser.open({ statusUrl: server.url + "/shop/status", attempt: theirs.payment_attempt_id });
  const looked = page.checkout.resume();
  await until("the other attempt", () => page.checkout.state.attempt?.payment_attempt_id === theirs.payment_attempt_id);
  server.finish(theirs, "succeeded");
  assert.equal((await looked).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("what has succeeded stays so, whatever an old page says", async (t) => {
  const { server, browser } = await shop(t);
  const old = server.attempt({ key: "another device", status: "failed" });
  server.later = { status: "succeeded", after: 10 };
  assert.equal((await browser.open().pay()).phase, "succeeded");
  const page = browser.open({ statusUrl: server.url + "/shop/status", attempt: old.payment_attempt_id });
  assert.equal((await page.checkout.resume()).phase, "succeeded");
});

test("an order that is paid is shown as paid", async (t) => {
  const { server, browser } = await shop(t);
  server.attempt({ key: "another device", status: "succeeded" });
  const end = await browser.open().pay();
  assert.equal(end.phase, "succeeded");
  assert.equal(end.canPay, false);
  assert.equal((await browser.open().checkout.resume()).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
});

test("two tabs are one payment, and both tell of it", async (t) => {
  const { server, browser } = await shop(t);
  const one = browser.open(), two = browser.open();
  const paid = one.pay();
  await until("the other tab to hear", () => two.checkout.state.phase === "checking" && two.checkout.state.elsewhere);
  assert.equal(two.checkout.state.canPay, false);
  const joined = two.pay("tok_other");
  await until("the attempt", () => server.attempts.length);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  assert.equal((await joined).phase, "succeeded");
  assert.equal(two.checkout.state.elsewhere, false);
  assert.equal(server.count(/^POST/), 1);
});

test("both tabs pressed at once are one payment", async (t) => {
  for (let round = 0; round < 20; round++) {
    const { server, browser } = await shop(t);
    server.later = { status: round % 2 ? "succeeded" : "failed", after: 10 };
    const pages = Array.from({ length: 4 }, () => browser.open());
    const ends = await Promise.all(pages.map((p) => p.pay()));
    for (const end of ends) assert.equal(end.phase, server.later.status);
    assert.equal(server.attempts.length, 1);
    assert.equal(server.count(/^POST/), 1);
  }
});

test("a tab that is opened meanwhile shows the payment", async (t) => {
  const { server, browser } = await shop(t);
  const one = browser.open();
  void one.pay().catch(() => undefined);
  await until("the attempt", () => one.checkout.state.attempt);
  const two = browser.open();
  const looked = two.checkout.resume();
  await until("the attempt", () => two.checkout.state.attempt);
  server.finish(server.attempts[0], "failed");
  assert.equal((await looked).phase, "failed");
  assert.equal(two.checkout.state.canPay, true);
});

test("the tab that works is closed, and the other goes on", async (t) => {
  const { server, browser } = await shop(t);
  const one = browser.open(), two = browser.open();
  void one.pay().catch(() => undefined);
  await until("the attempt", () => two.checkout.state.attempt);
  const joined = two.pay();
  browser.crash(one);
  await until("the other tab at work", () => !two.checkout.state.elsewhere);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await joined).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("the tab that sends is closed, and the other sends the same", async (t) => {
  const { server, browser } = await shop(t);
  server.payFaults = [() => undefined];
  server.later = { status: "succeeded", after: 30 };
  const one = browser.open({ timing: { requestTimeout: 60_000 } }), two = browser.open();
  void one.pay("tok_first").catch(() => undefined);
  await until("the pay", () => server.keys.length);
  const joined = two.pay("tok_second");
  browser.crash(one);
  assert.equal((await joined).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(new Set(server.bodies).size, 1);
  assert.equal(server.attempts.length, 1);
});

for (const [name, environment] of [
  ["locks", { locks: null }],
  ["locks and channels", { locks: null, channel: null }],
  ["channels", { channel: null }],
]) {
  test(`two tabs without ${name} are one payment`, async (t) => {
    const { server, browser } = await shop(t);
    const one = browser.open({}, environment), two = browser.open({}, environment);
    const first = one.pay();
    await until("the key", () => browser.kept());
    const second = two.pay();
    await until("the attempt", () => server.attempts.length);
    setTimeout(() => server.finish(server.attempts[0], "succeeded"), 30);
    assert.equal((await first).phase, "succeeded");
    assert.equal((await second).phase, "succeeded");
    assert.equal(server.attempts.length, 1);
    assert.equal(new Set(server.keys).size, 1);
  });
}

/** A browser's storage that shows at first what was kept a moment ago. */
function stale(browser, was) {
  let reads = 0;
  return {
    getItem: (k) => (reads++ ? browser.storage.get(k) ?? null : was),
    setItem: (k, v) => void browser.storage.set(k, v), removeItem: (k) => void browser.storage.delete(k),
  };
}

const late = (ms) => (r, act) => setTimeout(act, ms);
const lateAnswer = (r, act) => {
  const { end } = r;
  r.end = (text) => setTimeout(() => end.call(r, text), 100);
  return act();
};

for (const [name, faults] of [
  ["before the other is refused", [null, late(100)]],
  ["after the other was refused", [lateAnswer]],
  ["while the other asks again", [lateAnswer, null, late(200)]],
]) {
  test(`two tabs whose presses clash, one answered ${name}, are one payment and keep its token`, async (t) => {
    const { server, browser } = await shop(t);
    const alone = { locks: null, channel: null };
    const statusUrl = server.url + "/shop/status";
    const one = browser.open({ statusUrl }, alone);
    server.refusal = [422, "validation-failed"];
    await one.pay();
    server.refusal = null;
    server.payFaults = faults;
    const two = browser.open({ statusUrl }, { ...alone, storage: stale(browser, browser.storage.get("paylatch:A-1")) });
    const paid = Promise.all([one.pay("tok_first"), two.pay("tok_second")]);
    await until("the attempt", () => one.checkout.state.attempt && two.checkout.state.attempt);
    assert.ok(browser.kept().token, "a reload can follow it");
    server.finish(server.attempts[0], "succeeded");
    for (const end of await paid) assert.equal(end.phase, "succeeded");
    for (const page of [one, two]) assert.ok(!page.phases().slice(page === one ? 2 : 0).includes("refused"));
    assert.equal(server.attempts.length, 1);
  });
}

test("a tab without locks that is refused leaves what another one has begun", async (t) => {
  const { server, browser } = await shop(t);
  const alone = { locks: null, channel: null };
  const one = browser.open({}, alone), two = browser.open({}, { ...alone, storage: stale(browser, null) });
  server.payFaults = [null, async (r) => (await until("the token", () => browser.kept()?.token), problem(r, 422, "validation-failed"))];
  const paid = one.pay();
  assert.equal((await two.pay("tok_wrong")).phase, "refused");
  assert.ok(browser.kept().token);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  assert.equal((await two.pay()).phase, "succeeded");
  assert.equal(server.count(/^POST/), 2);
});

/** A page with a payment under way that its browser then suspends: it keeps the lock, and neither speaks nor hears. */
async function suspended(t, lost = false) {
  const { server, browser } = await shop(t);
  let awake = true, wake;
  const sleep = new Promise((resolve) => (wake = resolve));
  const network = async (...request) => {
    if (!awake) await sleep;
    return fetch(...request);
  };
  if (lost) server.payFaults = [after];
  const page = browser.open({ timing: { silence: 50, wait: 50, backoff: 100 } }, { channel: null, fetch: network, random: () => 1 });
  const paid = page.pay();
  paid.catch(() => undefined);
  await until("the attempt", () => (lost ? page.checkout.state.offline : server.attempts[0]?.listeners.size));
  awake = false;
  await until("its end", () => server.attempts[0].listeners.size === 0);
  return { server, browser, paid, wake };
}

test("a tab that its browser has suspended is not waited for", { timeout: 300_000 }, async (t) => {
  const { server, browser } = await suspended(t);
  server.finish(server.attempts[0], "succeeded");
  const page = browser.open({ timing: { otherTab: 30 } });
  assert.equal((await page.checkout.resume()).phase, "succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("to check again beside a suspended tab sends what was lost under the same key", { timeout: 300_000 }, async (t) => {
  const { server, browser } = await suspended(t, true);
  server.finish(server.attempts[0], "succeeded");
  const page = browser.open({ timing: { otherTab: 30, resendWithin: -1 } });
  assert.equal((await page.checkout.resume()).phase, "unknown");
  assert.equal((await page.pay("tok_other")).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(server.attempts.length, 1);
});

test("a press beside a suspended tab joins its payment", { timeout: 300_000 }, async (t) => {
  const { server, browser } = await suspended(t);
  const page = browser.open({ timing: { otherTab: 30 } });
  const paid = page.pay("tok_other");
  await until("the attempt", () => page.checkout.state.attempt);
  server.finish(server.attempts[0], "failed");
  assert.equal((await paid).phase, "failed");
  assert.equal(server.count(/^POST/), 1);
});

for (const lost of [false, true]) {
  test(`a tab that wakes ${lost ? "while it sends" : "while it follows"} does not forget what another has begun meanwhile`, { timeout: 300_000 }, async (t) => {
    const { server, browser, paid, wake } = await suspended(t, lost);
    server.finish(server.attempts[0], "failed");
    const page = browser.open({ timing: { otherTab: 30 } });
    assert.equal((await page.checkout.resume()).phase, "failed");
    const again = page.pay("tok_other");
    await until("the other attempt", () => server.attempts.length === 2 && page.checkout.state.attempt?.status === "pending");
    const { attempt, token } = browser.kept();
    assert.equal(attempt, server.attempts[1].payment_attempt_id);
    const saved = [];
    const { set } = browser.storage;
    browser.storage.set = (k, v) => (saved.push(JSON.parse(v).attempt), set.call(browser.storage, k, v));
    wake();
    assert.equal((await paid).phase, "failed");
    assert.deepEqual(saved, []);
    assert.ok(token);
    server.finish(server.attempts[1], "succeeded");
    assert.equal((await again).phase, "succeeded");
    assert.equal(server.attempts.length, 2);
  });
}

test("a tab that answers is waited for", async (t) => {
  const { server, browser } = await shop(t);
  const one = browser.open();
  void one.pay().catch(() => undefined);
  await until("the attempt", () => one.checkout.state.attempt);
  const two = browser.open({ timing: { otherTab: 2000 } });
  const looked = two.checkout.resume();
  await new Promise((r) => setTimeout(r, 3000));
  assert.equal(two.checkout.state.elsewhere, true);
  assert.equal(server.count(/^GET/), 1);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await looked).phase, "succeeded");
});

test("two browsers are one payment", async (t) => {
  const { server, browser, other } = await shop(t);
  const statusUrl = server.url + "/shop/status";
  const both = Promise.all([browser.open({ statusUrl }).pay(), other.open({ statusUrl }).pay()]);
  await until("both", () => server.count(/^POST/) === 2);
  server.finish(server.attempts[0], "succeeded");
  for (const end of await both) assert.equal(end.phase, "succeeded");
  assert.equal(server.attempts.length, 1);
});

test("late success is told the same", async (t) => {
  const { server, browser, other } = await shop(t);
  server.becomes = { status: "failed", stage: "final", amount_captured: 1999, failure: { code: "card_declined", message: "The card was declined." } };
  const options = { statusUrl: server.url + "/shop/status" };
  const end = await browser.open(options).pay();
  assert.equal(end.phase, "arrived", "the attempt holds money");
  assert.equal(end.canPay, false);
  const again = await browser.open(options).checkout.resume();
  assert.equal(again.phase, "arrived", "after a reload, too");
  assert.equal(again.canPay, false);
  const attempt = { ...server.attempts[0], key: undefined, body: undefined, listeners: undefined };
  server.refusal = [409, "order-already-paid", { attempt }];
  const refused = await other.open(options).pay();
  assert.equal(refused.phase, "arrived", "and to whoever presses elsewhere");
  assert.equal(refused.canPay, false);
  assert.equal(refused.attempt.payment_attempt_id, attempt.payment_attempt_id);
});

test("what was given back since has not arrived", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { status: "failed", stage: "final", amount_captured: 1999, amount_refunded: 1999, can_start_new_attempt: true };
  const end = await browser.open().pay();
  assert.equal(end.phase, "failed");
  assert.equal(end.canPay, true);
});

for (const [name, open] of [
  ["that pressed", async (page) => assert.equal((await page.pay()).phase, "failed")],
  ["of another tab", async (page, browser) => {
    await browser.open().pay();
    assert.equal((await page.checkout.resume()).phase, "failed");
  }],
]) {
  test(`an open page ${name} learns that money has arrived after the failure, and that it was given back`, async (t) => {
    const { server, browser } = await shop(t);
    server.becomes = { status: "failed", stage: "final", can_start_new_attempt: true };
    const page = browser.open({ timing: { late: 10, lateCap: 20 } });
    await open(page, browser);
    const { state } = page.checkout, [attempt] = server.attempts;
    assert.equal(state.canPay, true);
    server.readFaults = [before, status(500)];
    server.move(attempt, { amount_captured: 1999, can_start_new_attempt: false });
    await until("the money", () => page.checkout.state.phase === "arrived");
    assert.equal(page.checkout.state.canPay, false);
    server.move(attempt, { amount_refunded: 1999, can_start_new_attempt: true });
    await until("the refund", () => page.checkout.state.phase === "failed");
    assert.equal(page.checkout.state.canPay, true);
    assert.equal(server.attempts.length, 1);
  });
}

test("a page that is closed, or pays again, looks on no longer", async (t) => {
  const { server, browser } = await shop(t);
  server.becomes = { status: "failed", stage: "final", can_start_new_attempt: true };
  const page = browser.open({ timing: { late: 10, lateCap: 20 } });
  await page.pay();
  server.becomes = { status: "pending", stage: "requested" };
  const paid = page.pay();
  await until("the second attempt", () => server.attempts.length === 2);
  const reads = () => server.log.filter((line) => line.includes(server.attempts[0].payment_attempt_id)).length;
  await until("the second attempt on the page", () => page.checkout.state.attempt?.payment_attempt_id === server.attempts[1].payment_attempt_id);
  const then = reads();
  server.move(server.attempts[0], { amount_captured: 1999 });
  server.finish(server.attempts[1], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  await new Promise((r) => setTimeout(r, 100));
  assert.equal(reads(), then);
  assert.equal(page.checkout.state.phase, "succeeded");
});
