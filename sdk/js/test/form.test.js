// Payments that the provider's own form takes: the shop's backend registers them, and the page shows the form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, until } from "./page.js";
import { after, startServer, status } from "./server.js";

async function shop(t) {
  const server = await startServer(t);
  server.becomes = { status: "pending", stage: "awaiting_customer", origin: "external" };
  server.form = "secret-";
  const browser = new Browser(t, server);
  const open = (options = {}) => {
    const forms = [];
    const page = browser.open({
      mount: (form, attempt) => {
        const shown = { form, attempt, gone: 0 };
        forms.push(shown);
        return () => void shown.gone++;
      },
      ...options,
    });
    return Object.assign(page, { forms });
  };
  return { server, browser, open };
}

const shows = (page) => page.checkout.state.phase === "form" && page.forms.length > 0;

test("a press shows the provider's form until the attempt has ended", async (t) => {
  const { server, browser, open } = await shop(t);
  const page = open();
  const paid = page.pay();
  await until("the form", () => shows(page));
  assert.equal(page.checkout.state.canPay, false);
  assert.deepEqual(page.forms[0].form, { secret: "secret-0" });
  assert.equal(page.forms[0].attempt.payment_attempt_id, server.attempts[0].payment_attempt_id);
  assert.equal(page.forms[0].gone, 0);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  assert.deepEqual(page.phases(), ["sending", "form", "succeeded"]);
  assert.deepEqual(page.forms.map((f) => f.gone), [1]);
  assert.doesNotMatch(JSON.stringify(page.states) + JSON.stringify([...browser.storage]), /secret-/, "the secret is the form's alone");
});

test("a double press shows one form", async (t) => {
  const { server, open } = await shop(t);
  const page = open();
  void page.checkout.pay();
  void page.checkout.pay();
  await until("the form", () => shows(page));
  void page.checkout.pay();
  server.finish(server.attempts[0], "succeeded");
  await page.checkout.pay();
  assert.equal(page.forms.length, 1);
  assert.equal(server.count(/^POST/), 1);
  assert.deepEqual(server.bodies, ["{}"]);
});

test("a reload asks for the same form again, whatever happens to the answer", async (t) => {
  const { server, browser, open } = await shop(t);
  const first = open();
  first.pay().catch(() => undefined);
  await until("the form", () => shows(first));
  browser.crash(first);
  server.payFaults = [after, status(502)];
  const second = open();
  const end = second.checkout.resume();
  await until("the form", () => shows(second));
  assert.deepEqual(second.forms[0].form, { secret: "secret-0" });
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(new Set(server.bodies).size, 1);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await end).phase, "succeeded");
  assert.equal(server.attempts.length, 1);
  assert.equal(browser.kept().bodies.length, 0);
});

test("a reload of a press of long ago asks for the form, too: it begins nothing", async (t) => {
  const { server, browser, open } = await shop(t);
  const first = open();
  first.pay().catch(() => undefined);
  await until("the form", () => shows(first));
  browser.crash(first);
  const second = open({ timing: { resendWithin: -1 } });
  second.checkout.resume().catch(() => undefined);
  await until("the form", () => shows(second));
  assert.equal(server.attempts.length, 1);
});

test("an attempt that has ended meanwhile shows no form", async (t) => {
  const { server, browser, open } = await shop(t);
  const first = open();
  first.pay().catch(() => undefined);
  await until("the form", () => shows(first));
  browser.crash(first);
  server.finish(server.attempts[0], "succeeded");
  await until("the end of the first page's work", () => browser.locks.held.size === 0);
  const second = open();
  assert.equal((await second.checkout.resume()).phase, "succeeded");
  assert.deepEqual(second.phases(), ["succeeded"], "nothing else is shown on the way");
  assert.equal(second.forms.length, 0);
});

test("after a decline the next press shows the next attempt's form", async (t) => {
  const { server, open } = await shop(t);
  const page = open();
  const declined = page.pay();
  await until("the form", () => shows(page));
  server.finish(server.attempts[0], "failed");
  assert.equal((await declined).canPay, true);
  assert.equal(page.forms[0].gone, 1);
  const paid = page.pay();
  await until("the second form", () => page.forms.length === 2);
  assert.deepEqual(page.forms[1].form, { secret: "secret-1" });
  server.finish(server.attempts[1], "succeeded");
  assert.equal((await paid).phase, "succeeded");
  assert.equal(new Set(server.keys).size, 2);
});

test("another tab shows the form once the first has gone", async (t) => {
  const { server, open } = await shop(t);
  const first = open();
  first.pay().catch(() => undefined);
  await until("the form", () => shows(first));
  const second = open();
  second.checkout.resume().catch(() => undefined);
  await until("the news", () => second.checkout.state.phase === "form");
  assert.equal(second.checkout.state.elsewhere, true);
  assert.equal(second.forms.length, 0);
  first.checkout.close();
  assert.equal(first.forms[0].gone, 1);
  await until("the form", () => second.forms.length === 1);
  assert.equal(second.checkout.state.elsewhere, false);
  assert.equal(new Set(server.keys).size, 1);
  assert.equal(server.attempts.length, 1);
});

test("another device's payment is followed without its form", async (t) => {
  const { server, open } = await shop(t);
  const theirs = server.attempt({ stage: "awaiting_customer", origin: "external", key: "theirs", body: "{}" });
  const page = open({ statusUrl: server.url + "/shop/status" });
  const end = page.pay();
  await until("the news", () => page.checkout.state.problem?.code === "payment-in-progress");
  assert.equal(page.checkout.state.phase, "checking");
  server.finish(theirs, "succeeded");
  assert.equal((await end).phase, "succeeded");
  assert.equal(page.forms.length, 0);
});

test("a page that comes back from the cache still has its form", async (t) => {
  const { server, open } = await shop(t);
  const page = open();
  const end = page.pay();
  await until("the form", () => shows(page));
  await until("the first stream", () => server.count(/stream$/) === 1);
  page.leave();
  page.back();
  await until("the second stream", () => server.count(/stream$/) === 2);
  assert.equal(server.count(/^POST/), 1);
  assert.deepEqual(page.forms.map((f) => f.gone), [0]);
  server.finish(server.attempts[0], "succeeded");
  assert.equal((await end).phase, "succeeded");
  assert.equal(page.forms[0].gone, 1);
});

test("the customer has as long as the attempt", async (t) => {
  const { server, open } = await shop(t);
  server.stream = server.wait = false;
  const page = open({ timing: { giveUp: 4000, requestTimeout: 4000 } });
  const end = page.pay();
  await until("the form", () => shows(page));
  await new Promise((resolve) => setTimeout(resolve, 5000));
  assert.equal(page.checkout.state.phase, "form");
  server.finish(server.attempts[0], "failed");
  assert.equal((await end).phase, "failed");
});

test("a form that leads to the provider's page is an action, and is there again on the way back", async (t) => {
  const { server, browser, open } = await shop(t);
  const first = open();
  first.pay().catch(() => undefined);
  await until("the form", () => shows(first));
  server.move(server.attempts[0], { next_action: { type: "redirect", url: "https://bank.example/" } });
  await until("the action", () => first.checkout.state.phase === "action");
  assert.deepEqual(first.redirects, [], "the provider's script takes them there");
  browser.crash(first);
  const second = open();
  second.checkout.resume().catch(() => undefined);
  await until("the form", () => second.forms.length === 1);
  assert.deepEqual(second.redirects, []);
});

test("a page without the provider's script says so to whoever called it", async (t) => {
  const { server, browser, open } = await shop(t);
  const page = open({ mount: () => { throw new ReferenceError("PaylatchSandbox is not defined"); } });
  await assert.rejects(page.pay(), ReferenceError);
  const next = open();
  next.checkout.resume().catch(() => undefined);
  await until("the form", () => shows(next));
  assert.equal(server.attempts.length, 1);
  assert.ok(browser.kept().attempt);
});
