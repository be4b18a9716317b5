// What an attempt waits for: the provider's script, forms to post, and details to pass on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, until } from "./page.js";
import { after, before, problem, startServer, status } from "./server.js";

const sdk = (secret = "one") => ({ type: "sdk", data: { client_secret: secret } });
const challenge = { type: "sdk", data: { challenge: true } };
const form = { type: "post_form", url: "https://bank.example/acs", fields: { PaReq: "a", submit: "b" } };
const voucher = { type: "display", data: { number: "12" }, url: "https://bank.example/voucher" };
const bank = { type: "redirect", url: "https://bank.example/pay/1" };

async function shop(t, action = sdk()) {
  const server = await startServer(t);
  server.becomes = { stage: "awaiting_customer", next_action: action };
  const browser = new Browser(t, server);
  /** A page with a hook that keeps what it is called with, and does `act`. */
  const open = (act = () => new Promise(() => undefined), options = {}) => {
    const calls = [];
    const onAction = (action, attempt, acting) => {
      const call = { action, attempt, ...acting };
      calls.push(call);
      return act(call, calls.length);
    };
    return Object.assign(browser.open({ completeUrl: server.url + "/shop/complete", onAction, ...options }), { calls });
  };
  return { server, browser, open };
}

const pressed = (page) => void page.pay().catch(() => undefined);
const opened = (page) => void page.checkout.resume().catch(() => undefined);
const acts = (page, n = 1) => until("the hook", () => page.calls.length === n && page.checkout.state.phase === "action");
const silent = () => new Promise((resolve) => setTimeout(resolve, 100));
const bodies = (server) => server.completes.map((c) => c.body);
const keys = (server) => server.completes.map((c) => c.key);

for (const [name, act] of [
  ["returns", () => ({ result: "ok" })],
  ["promises", async () => ({ result: "ok" })],
  ["passes on later", ({ complete }) => (setTimeout(() => void complete({ result: "ok" }), 30), true)],
]) {
  test(`what the hook ${name} completes the attempt`, async (t) => {
    const { server, open } = await shop(t);
    const page = open(act);
    assert.equal((await page.pay()).phase, "succeeded");
    assert.deepEqual(page.calls.map((c) => c.action), [sdk()]);
    assert.equal(page.calls[0].attempt.payment_attempt_id, server.attempts[0].payment_attempt_id);
    assert.deepEqual(bodies(server), ['{"details":{"result":"ok"}}']);
    assert.match(keys(server)[0], /^[0-9a-f]{32}$/);
    assert.notEqual(keys(server)[0], server.keys[0]);
    assert.equal(server.completes[0].path, "/shop/complete");
    assert.deepEqual(page.redirects, []);
  });
}

test("while details are on their way the page checks, and offers no action", async (t) => {
  const { server, browser, open } = await shop(t);
  server.completeFaults = [before, status(502)];
  const page = open(() => ({ result: "ok" }));
  await page.pay();
  assert.deepEqual(page.phases(), ["sending", "action", "checking", "succeeded"]);
  assert.ok(page.states.every((s) => !s.canAct));
  assert.equal(new Set(keys(server)).size, 1);
  assert.equal(browser.kept().step, undefined, "what was answered is not kept");
});

test("with a customer's token the page completes by itself", async (t) => {
  const { server, open } = await shop(t);
  server.completeFaults = [(r) => problem(r, 401, "unauthenticated")];
  const page = open(() => ({ result: "ok" }), { completeUrl: undefined, authorization: () => "customer" });
  assert.equal((await page.pay()).phase, "succeeded");
  const { path, authorization } = server.completes[1];
  assert.equal(path, `/v1/payment-attempts/${server.attempts[0].payment_attempt_id}/complete`);
  assert.equal(authorization, "Bearer customer");
  assert.equal(new Set(keys(server)).size, 1, "a token that has expired is renewed");
});

test("without an address to complete by, what the hook returns is reported, and the payment goes on", async (t) => {
  const { server, open } = await shop(t);
  const page = open(() => ({ result: "ok" }), { completeUrl: undefined });
  const paid = page.pay();
  await until("the report", () => page.reports.length);
  assert.match(page.reports[0].message, /completeUrl/);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  assert.equal(server.completes.length, 0);
});

for (const [name, fault] of [["was lost", after], ["never arrived", before]]) {
  test(`a reload after a complete that ${name} sends the same under the same key, and runs no hook first`, async (t) => {
    const { server, browser, open } = await shop(t);
    server.completeFaults = [fault];
    server.completed = (a) => server.move(a, { next_action: challenge });
    const first = open(() => ({ result: "ok" }), { timing: { backoff: 60_000, backoffCap: 60_000, giveUp: 600_000 } });
    pressed(first);
    await until("the loss", () => server.completes.length === 1);
    browser.crash(first);
    await until("the end of the first page's work", () => browser.locks.held.size === 0);
    const second = open();
    opened(second);
    await acts(second);
    assert.deepEqual(second.calls.map((c) => c.action), [challenge]);
    assert.equal(new Set(keys(server)).size, 1);
    assert.equal(new Set(bodies(server)).size, 1);
    assert.equal(server.completes.length, 2);
  });
}

test("a new action is done under a new key, and the old one's hook is told that it is over", async (t) => {
  const { server, open } = await shop(t);
  server.completed = (a, { n }) => (n === 1 ? server.move(a, { next_action: challenge }) : server.finish(a, "succeeded"));
  const page = open((call, n) => ({ n }));
  assert.equal((await page.pay()).phase, "succeeded");
  assert.deepEqual(page.calls.map((c) => c.action), [sdk(), challenge]);
  assert.equal(new Set(keys(server)).size, 2);
  assert.ok(page.calls.every((c) => c.signal.aborted));
});

test("an action is done once on a page, whatever is heard of it, and again on the next page", async (t) => {
  const { server, browser, open } = await shop(t);
  const page = open();
  pressed(page);
  await acts(page);
  const a = server.attempts[0];
  server.move(a, { failure: { code: "card_declined" }, next_action: { data: { client_secret: "one" }, type: "sdk" } });
  await until("the news", () => page.checkout.state.attempt.failure);
  page.checkout.act();
  await silent();
  assert.equal(page.calls.length, 1, "the same action with its members in another order, and a press while it is under way");
  assert.equal(page.calls[0].signal.aborted, false);
  page.leave();
  page.back();
  await until("another stream", () => server.count(/stream$/) === 2);
  await silent();
  assert.equal(page.calls.length, 1, "a page that comes back from the cache has it still");
  browser.crash(page);
  assert.equal(page.calls[0].signal.aborted, true);
  const next = open();
  opened(next);
  await acts(next);
});

test("an action that comes back on the same page is done again only if the customer asks for it", async (t) => {
  const { server, open } = await shop(t);
  const page = open(() => true);
  const paid = page.pay();
  await acts(page);
  server.move(server.attempts[0], { stage: "outcome_unknown", next_action: null });
  await until("the news", () => page.checkout.state.phase === "checking");
  assert.equal(page.calls[0].signal.aborted, true);
  server.move(server.attempts[0], { stage: "awaiting_customer", next_action: sdk() });
  await until("the action", () => page.checkout.state.canAct);
  await silent();
  assert.equal(page.calls.length, 1);
  page.checkout.act();
  await acts(page, 2);
  assert.equal(page.calls[1].signal.aborted, false);
  await page.calls[1].complete({ result: "ok" });
  assert.equal((await paid).phase, "succeeded");
});

test("only the tab that does the work runs the hook", async (t) => {
  const { server, open } = await shop(t);
  const one = open();
  pressed(one);
  await acts(one);
  const two = open();
  opened(two);
  await until("the news", () => two.checkout.state.phase === "action");
  assert.equal(two.checkout.state.elsewhere, true);
  await silent();
  assert.equal(two.calls.length, 0);
  one.checkout.close();
  await acts(two);
  assert.equal(server.attempts.length, 1);
});

test("details that are refused leave the customer to act again, under a new key", async (t) => {
  const { server, open } = await shop(t);
  server.completeFaults = [(r) => problem(r, 422, "validation-failed", { errors: [{ field: "details", message: "are refused" }] })];
  const page = open();
  const paid = page.pay();
  await acts(page);
  const state = await page.calls[0].complete({ result: "bad" });
  assert.equal(state.phase, "action");
  assert.equal(state.problem.code, "validation-failed");
  assert.equal(state.canAct, true);
  page.checkout.act();
  await acts(page, 2);
  assert.equal(page.checkout.state.canAct, false);
  assert.equal(page.checkout.state.problem, null);
  await page.calls[0].complete({ result: "good" });
  assert.equal((await paid).phase, "succeeded");
  assert.equal(new Set(keys(server)).size, 2);
});

test("an attempt that can't be completed is looked at", async (t) => {
  const { server, open } = await shop(t);
  server.stream = server.wait = false;
  const page = open();
  const paid = page.pay();
  await acts(page);
  server.asked = (a) => server.finish(a, "succeeded");
  server.completeFaults = [(r) => problem(r, 409, "attempt-not-completable")];
  await page.calls[0].complete({ result: "late" });
  await paid;
  assert.equal(server.checks.length, 1);
  assert.equal(page.checkout.state.problem, null);
  assert.equal(server.completes.length, 1);
});

test("another command that is under way is waited for", async (t) => {
  const { server, open } = await shop(t);
  server.completeFaults = [(r) => problem(r, 409, "request-in-progress", { retryable: true, retry_after_ms: 20 })];
  assert.equal((await open(() => ({ result: "ok" })).pay()).phase, "succeeded");
  assert.equal(new Set(keys(server)).size, 1);
});

test("a customer who is not signed in any more loses nothing", async (t) => {
  const { server, browser, open } = await shop(t);
  server.completeFaults = [(r) => problem(r, 401, "signed-out")];
  const page = open(() => ({ result: "ok" }));
  pressed(page);
  await until("the refusal", () => page.checkout.state.problem?.code === "signed-out");
  browser.crash(page);
  const next = open();
  assert.equal((await next.checkout.resume()).phase, "succeeded");
  assert.equal(next.calls.length, 0);
  assert.equal(new Set(keys(server)).size, 1);
});

test("details that come twice are sent once, and others after them only if the attempt still waits", async (t) => {
  const { server, open } = await shop(t);
  server.completeFaults = [(r, act) => setTimeout(act, 50)];
  const page = open();
  const paid = page.pay();
  await acts(page);
  const { complete } = page.calls[0];
  await Promise.all([complete({ n: 1 }), complete({ n: 1 }), complete({ n: 2 })]);
  assert.equal((await paid).phase, "succeeded");
  assert.deepEqual(bodies(server), ['{"details":{"n":1}}']);
  await complete({ n: 3 });
  assert.equal(server.completes.length, 1);
});

test("a payment that is final ends what is on its way", async (t) => {
  const { server, browser, open } = await shop(t);
  server.completeFaults = Array(1000).fill(before);
  const page = open(() => ({ result: "ok" }));
  const paid = page.pay();
  await until("some tries", () => server.completes.length > 2);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  await silent(); // a try that had left already may arrive
  const tries = server.completes.length;
  await silent();
  assert.equal(server.completes.length, tries);
  assert.equal(browser.kept().step, undefined);
});

test("what a hook throws is reported, the payment is followed, and the customer may act again", async (t) => {
  const { server, open } = await shop(t);
  const page = open((call, n) => {
    if (n === 1) throw new ReferenceError("Stripe is not defined");
    return { result: "ok" };
  });
  const paid = page.pay();
  await until("the report", () => page.checkout.state.canAct);
  assert.deepEqual(page.reports.map((e) => e.name), ["ReferenceError"]);
  page.checkout.act();
  assert.equal((await paid).phase, "succeeded");
  assert.equal(server.completes.length, 1);
});

test("after a script that returns nothing the provider is asked", async (t) => {
  const { server, open } = await shop(t);
  server.asked = (a) => server.finish(a, "succeeded");
  const page = open(async () => undefined);
  assert.equal((await page.pay()).phase, "succeeded");
  assert.equal(server.checks.length, 1);
  assert.equal(server.completes.length, 0);
});

test("the customer has as long for an action as the attempt, and no longer once it is done", async (t) => {
  const { server, open } = await shop(t);
  server.stream = server.wait = false;
  server.completed = (a) => server.move(a, { stage: "outcome_unknown", next_action: null });
  const page = open(undefined, { timing: { giveUp: 4000, requestTimeout: 4000 } });
  const paid = page.pay();
  await acts(page);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  assert.equal(page.checkout.state.phase, "action");
  await page.calls[0].complete({ result: "ok" });
  assert.equal((await paid).phase, "unknown");
});

for (const [name, options] of [["without a hook", {}], ["that the hook leaves alone", { onAction: async () => undefined }]]) {
  test(`a form to post ${name} is posted by the press, and by a press on the next page`, async (t) => {
    const { browser } = await shop(t, form);
    const page = browser.open(options);
    pressed(page);
    await until("the form", () => page.forms.length);
    assert.deepEqual(page.forms, [{ url: form.url, fields: form.fields }]);
    browser.crash(page);
    const next = browser.open(options);
    opened(next);
    await until("the action", () => next.checkout.state.canAct);
    await silent();
    assert.deepEqual(next.forms, []);
    next.checkout.act();
    await until("the form", () => next.forms.length);
  });

  test(`a redirect ${name} is as ever`, async (t) => {
    const { browser } = await shop(t, bank);
    const page = browser.open(options);
    pressed(page);
    await until("the redirect", () => page.redirects.length);
    browser.crash(page);
    const next = browser.open(options);
    opened(next);
    await until("the action", () => next.checkout.state.canAct);
    await silent();
    assert.deepEqual(next.redirects, []);
    next.checkout.act();
    await until("the redirect", () => next.redirects.length);
    assert.deepEqual(next.redirects, [bank.url]);
  });
}

for (const action of [form, bank]) {
  test(`a ${action.type} that the hook has in hand stays where it is`, async (t) => {
    const { server, open } = await shop(t, action);
    const page = open(() => true);
    const paid = page.pay();
    await acts(page);
    await silent();
    assert.deepEqual([page.forms, page.redirects], [[], []]);
    await page.calls[0].complete({ orderID: "1" });
    assert.equal((await paid).phase, "succeeded");
    assert.equal(server.completes.length, 1);
  });

  test(`a ${action.type} to no web page, or that is left to the page, is not done`, async (t) => {
    for (const [change, redirect] of [[{ url: "javascript:alert(1)" }, undefined], [{}, false]]) {
      const { browser } = await shop(t, { ...action, ...change });
      const page = browser.open({ ...(redirect === false && { redirect }) });
      pressed(page);
      await until("the action", () => page.checkout.state.phase === "action");
      page.checkout.act();
      await silent();
      assert.deepEqual([page.forms, page.redirects, page.checkout.state.canAct], [[], [], false]);
      page.checkout.close();
    }
  });
}

for (const action of [voucher, sdk(), { type: "of a later version" }]) {
  test(`of ${action.type} a page without a hook shows what there is`, async (t) => {
    const { server, browser } = await shop(t, action);
    const page = browser.open();
    const paid = page.pay();
    await until("the action", () => page.checkout.state.phase === "action");
    assert.deepEqual(page.checkout.state.attempt.next_action, action);
    assert.equal(page.checkout.state.canAct, false);
    server.finish(server.attempts[0], "succeeded");
    assert.equal((await paid).phase, "succeeded");
    assert.equal(server.checks.length, 0);
  });
}

const came = { MD: "m", PaRes: "p" };

/** A page that went to the bank, and the one on which the customer is back. */
async function back(t) {
  const { server, browser, open } = await shop(t, bank);
  const page = browser.open();
  pressed(page);
  await until("the redirect", () => page.redirects.length);
  browser.crash(page);
  await until("the end of the first page's work", () => browser.locks.held.size === 0);
  const order = [];
  const serve = server.serve.bind(server);
  server.serve = (q, r) => (order.push(new URL(q.url, "http://x").pathname.split("/").at(-1)), serve(q, r));
  return { server, browser, order, open: (returned = () => came, options = {}) => open(() => true, { returned, ...options }) };
}

test("what the customer has come back with completes the attempt, before the provider is asked", async (t) => {
  const { server, order, open } = await back(t);
  server.completed = (a) => server.move(a, { stage: "outcome_unknown", next_action: null });
  const page = open();
  const paid = page.checkout.resume();
  await until("the question", () => server.checks.length);
  assert.deepEqual(bodies(server), [JSON.stringify({ details: came })]);
  assert.deepEqual(order, ["stream", "complete", "check"]);
  assert.equal(page.calls.length, 0, "nobody is sent back to the bank");
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

test("it does so once, whatever the address still says", async (t) => {
  const { server, browser, open } = await back(t);
  server.completed = (a) => server.move(a, { next_action: voucher });
  const page = open();
  opened(page);
  await acts(page);
  await until("the question", () => server.checks.length === 1);
  browser.crash(page);
  const again = open();
  opened(again);
  await acts(again);
  assert.deepEqual(again.calls.map((c) => c.action), [voucher]);
  await until("the question", () => server.checks.length === 2);
  assert.equal(server.completes.length, 1);
});

test("it does so again under the same key where the answer was lost", async (t) => {
  const { server, browser, open } = await back(t);
  server.completeFaults = [after];
  const page = open(undefined, { timing: { backoff: 60_000, backoffCap: 60_000, giveUp: 600_000 } });
  opened(page);
  await until("the loss", () => server.completes.length);
  browser.crash(page);
  assert.equal((await open().checkout.resume()).phase, "succeeded");
  assert.equal(new Set(keys(server)).size, 1);
});

test("a page that is left before it could, does so when it is back", async (t) => {
  const { server, open } = await back(t);
  server.readFaults = [() => undefined];
  const page = open();
  const paid = page.checkout.resume();
  await until("the request", () => server.readFaults.length === 0);
  page.leave();
  page.back();
  assert.equal((await paid).phase, "succeeded");
  assert.equal(server.completes.length, 1);
});

test("the next redirect after it is gone to", async (t) => {
  const { server, open } = await back(t);
  server.completed = (a) => server.move(a, { next_action: { ...bank, url: "https://bank.example/2" } });
  const page = open(undefined, { onAction: undefined });
  opened(page);
  await until("the redirect", () => page.redirects.length);
  assert.deepEqual(page.redirects, ["https://bank.example/2"]);
});

test("details that are refused leave the way back to the bank", async (t) => {
  const { server, browser, open } = await back(t);
  server.completeFaults = [(r) => problem(r, 422, "validation-failed")];
  const page = open(undefined, { onAction: undefined });
  opened(page);
  await until("the refusal", () => page.checkout.state.problem);
  await until("the action", () => page.checkout.state.canAct);
  page.checkout.act();
  assert.deepEqual(page.redirects, [bank.url]);
  browser.crash(page);
  const again = open();
  opened(again);
  await acts(again);
  assert.equal(server.completes.length, 1, "they are not sent again");
});

for (const [name, returned] of [["nothing", () => null], ["no parameters", () => ({})], ["an error", () => { throw new Error("no"); }]]) {
  test(`with ${name} from the address the provider is asked, and no more`, async (t) => {
    const { server, open } = await back(t);
    const page = open(returned);
    opened(page);
    await until("the question", () => server.checks.length);
    await acts(page);
    assert.equal(server.completes.length, 0);
    assert.equal(page.reports.length, name === "an error" ? 1 : 0);
  });
}

test("an attempt that does not wait is not completed, nor is the next one with what came back of it", async (t) => {
  const { server, open } = await back(t);
  server.finish(server.attempts[0], "failed");
  const page = open();
  assert.equal((await page.checkout.resume()).phase, "failed");
  const paid = page.pay();
  await acts(page);
  await silent();
  assert.equal(server.completes.length, 0);
  server.finish(server.attempts[1], "succeeded");
  assert.equal((await paid).phase, "succeeded");
});

test("a listener hears of each change, and sees the same state until the next", async (t) => {
  const { server, open } = await shop(t);
  const page = open();
  const { checkout } = page, seen = [];
  const end = checkout.subscribe(() => seen.push(checkout.getSnapshot()));
  assert.equal(checkout.getSnapshot(), checkout.getSnapshot());
  pressed(page);
  await acts(page);
  assert.deepEqual(seen, page.states);
  const now = checkout.getSnapshot();
  server.move(server.attempts[0], {});
  await until("the news", () => checkout.getSnapshot() !== now);
  end();
  const heard = seen.length;
  server.finish(server.attempts[0], "failed");
  await until("the end", () => checkout.state.phase === "failed");
  assert.equal(seen.length, heard);
});
