// The client of servers, against the service that PAYLATCH_URL names. A proxy before it loses responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newKey, Paylatch, ProblemError } from "../../dist/server.js";

const paylatch = new Paylatch(process.env.PAYLATCH_URL, process.env.PAYLATCH_TOKEN, { firstPause: 10, tries: 100 });
const user = { onBehalfOf: "u1" };
const command = () => ({ key: newKey(), ...user });
const terms = { amount: 1999, currency: "EUR" };
const method = (token) => ({ payment_method: { token } });
const all = async (list) => {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
};

/** A new order, and the final attempt to pay it. */
async function paid(token = "tok_success", more = {}) {
  const order = await paylatch.createOrder(terms, user);
  const attempt = await paylatch.pay(order.order_id, { ...method(token), ...more }, command());
  return { order, attempt };
}

test("copies of a pay, and lost responses, charge once", async () => {
  for (let n = 0; n < 3; n++) {
    const { order_id: id } = await paylatch.createOrder(terms, user);
    const once = command();
    const copies = await Promise.all(Array.from({ length: 5 }, () => paylatch.pay(id, method("tok_success"), once)));
    for (const copy of copies) assert.deepEqual([copy.payment_attempt_id, copy.status], [copies[0].payment_attempt_id, "succeeded"]);
    assert.equal((await paylatch.createRefund(copies[0].payment_attempt_id, {}, command())).amount, 1999);
    assert.equal((await paylatch.pay(id, method("tok_success"), once)).payment_attempt_id, copies[0].payment_attempt_id);
    await assert.rejects(paylatch.pay(id, method("tok_decline"), once), (error) => error instanceof ProblemError && error.code === "idempotency-key-reused" && !error.retryable);
    const [found] = await paylatch.listAttempts(id, { client_request_id: once.key });
    assert.equal(found.amount_refunded, 1999);
  }
});

test("an order is amended, cancelled and read", async () => {
  const { order_id: id, version } = await paylatch.createOrder(terms, user);
  const amended = await paylatch.amendOrder(id, { amount: 2500, expected_version: version }, command());
  assert.equal(amended.amount, 2500);
  await assert.rejects(paylatch.amendOrder(id, { amount: 1, expected_version: version }, command()), { code: "order-changed", status: 412 });
  assert.equal((await paylatch.cancelOrder(id, command())).status, "cancelled");
  assert.equal((await paylatch.readOrder(id, user)).amount, 2500);
  await assert.rejects(paylatch.readOrder(id, { onBehalfOf: "u2" }), { code: "forbidden" });
  await assert.rejects(paylatch.createOrder({ amount: 0, currency: "EUR" }, user), (error) => error.code === "validation-failed" && error.errors[0].field === "amount");
});

test("a hold is captured, another is cancelled", async () => {
  const held = await paid("tok_success", { capture: "manual" });
  assert.equal(held.attempt.stage, "authorized");
  assert.equal((await paylatch.confirm(held.attempt.payment_attempt_id, { amount: 1000 }, command())).amount_captured, 1000);
  const dropped = await paid("tok_success", { capture: "manual" });
  await paylatch.cancelAttempt(dropped.attempt.payment_attempt_id, command());
  const last = (await all(paylatch.followAttempt(dropped.attempt.payment_attempt_id))).at(-1);
  assert.deepEqual([last.status, last.failure.code], ["failed", "canceled"]);
});

test("an attempt is followed, read and checked", async () => {
  const { attempt } = await paid("tok_async_success");
  const id = attempt.payment_attempt_id;
  await paylatch.checkAttempt(id).catch((error) => assert.ok(!(error instanceof ProblemError), error));
  const states = await all(paylatch.followAttempt(id, user));
  assert.equal(states.at(-1).status, "succeeded");
  assert.equal(await paylatch.readAttempt(id, { version: states.at(-1).version }), null);
  assert.equal((await paylatch.readAttempt(id)).amount_captured, 1999);
  await assert.rejects(paylatch.complete(id, { details: {} }, command()), { code: "attempt-not-completable" });
});

test("a payment that begins elsewhere is registered and reported", async () => {
  const { order_id: id } = await paylatch.createOrder(terms, user);
  const made = await paylatch.registerAttempt(id, { expires_in: 600 }, command());
  assert.equal(made.origin, "external");
  assert.ok(made.provider_idempotency_key);
  const left = await paylatch.reportAttempt(made.payment_attempt_id, { outcome: "abandoned" }, command());
  assert.equal(left.order_id, id);
});

test("lists are read over pages", async () => {
  const own = { onBehalfOf: "u-lists" };
  const orders = [];
  for (let n = 0; n < 3; n++) orders.unshift((await paylatch.createOrder(terms, own)).order_id);
  assert.deepEqual((await all(paylatch.listOrders({ limit: 1 }, own))).map((o) => o.order_id), orders);
  const attempt = await paylatch.pay(orders[0], method("tok_success"), { key: newKey(), ...own });
  const refund = await paylatch.createRefund(attempt.payment_attempt_id, { amount: 5 }, { key: newKey(), ...own });
  assert.deepEqual((await all(paylatch.listPaymentAttempts({ limit: 1 }, own))).map((a) => a.payment_attempt_id), [attempt.payment_attempt_id]);
  assert.deepEqual((await all(paylatch.listRefunds({}, own))).map((r) => r.refund_id), [refund.refund_id]);
  assert.equal((await paylatch.readRefund(refund.refund_id, own)).amount, 5);
  assert.deepEqual(await all(paylatch.listDisputes({}, own)), []);
  for (const list of [paylatch.listSettlements(), paylatch.listPayouts(), paylatch.listReconciliations({ limit: 1 })]) assert.ok(Array.isArray(await all(list)));
  for (const gone of [() => paylatch.readPayout(newKey()), () => paylatch.readDispute(newKey()), () => all(paylatch.listDeliveries("none"))]) {
    await assert.rejects(gone(), { code: "not-found" });
  }
  assert.deepEqual(await paylatch.listEndpoints(), []);
  // These have no key, so that a lost response is an error.
  for (const gone of [() => paylatch.testEndpoint("none"), () => paylatch.redeliver("none", { after: "" })]) {
    await assert.rejects(gone(), (error) => !(error instanceof ProblemError) || error.code === "not-found");
  }
  await assert.rejects(all(paylatch.listOrders({ status: "else" })), { code: "validation-failed" });
});

test("the feed has each paid order once", async () => {
  const wanted = new Set();
  for (let n = 0; n < 3; n++) wanted.add((await paid()).order.order_id);
  let stored = "";
  const seen = new Map();
  for await (const { event, cursor } of paylatch.readEvents(stored, { types: ["order.paid"], limit: 2, wait: 5, signal: AbortSignal.timeout(120_000) })) {
    seen.set(event.subject, (seen.get(event.subject) ?? 0) + 1);
    stored = cursor;
    if ([...wanted].every((id) => seen.has(id))) break;
  }
  for (const id of wanted) assert.equal(seen.get(id), 1);
});
