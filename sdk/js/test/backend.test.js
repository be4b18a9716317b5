// The client of servers, against a server that answers by a list.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { newKey, Paylatch, ProblemError } from "../dist/server.js";

const attempt = { payment_attempt_id: "a1", order_id: "A-1", status: "succeeded", stage: "final", amount: 1999, currency: "EUR", version: 3 };

/** Answers each request with the next of the answers, and the last one for ever. */
async function serve(t, ...answers) {
  const s = { seen: [], keys: [], headers: [] };
  const http = createServer(async (q, r) => {
    let text = "";
    for await (const part of q) text += part;
    s.seen.push(`${q.method} ${q.url} ${text}`);
    s.keys.push(q.headers["idempotency-key"]);
    s.headers.push(q.headers);
    answers[Math.min(s.seen.length, answers.length) - 1](r);
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  t.after(() => (http.closeAllConnections(), http.close()));
  s.url = "http://127.0.0.1:" + http.address().port;
  s.client = (options) => new Paylatch(s.url, "token", { firstPause: 1, maxPause: 4, tries: 5, ...options });
  return s;
}

const json = (status, body, headers = {}) => (r) => r.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
const problem = (status, code, more = {}) =>
  json(status, { type: "/problems/" + code, title: code, status, detail: "Do this.", code, request_id: "r1", retryable: true, safe_new_key: false, ...more });
const page = (status) => (r) => r.writeHead(status, { "Content-Type": "text/html" }).end("<html>");
const cut = (r) => r.destroy();
const torn = (r) => {
  r.writeHead(201, { "Content-Length": "1000" });
  r.write("{");
  setTimeout(() => r.destroy(), 5);
};
const command = { key: "cart-0001", onBehalfOf: "u1" };
const method = { payment_method: { token: "tok" } };

for (const [name, first] of Object.entries({
  "a lost connection": cut, "half a response": torn, "a database that is away": problem(503, "storage-unavailable"), "a proxy's page": page(502),
  "a quota": problem(429, "quota-exceeded"), "a body that came too slowly": problem(408, "request-timeout"), "the same request under way": problem(409, "request-in-progress"),
})) {
  test(`after ${name} a command is sent again, with its key and body`, async (t) => {
    for (const key of ["cart-0001", undefined]) {
      const s = await serve(t, first, cut, json(201, attempt));
      assert.equal((await s.client().pay("A-1", method, { ...command, key })).status, "succeeded");
      assert.equal(s.seen.length, 3);
      assert.equal(new Set(s.seen).size, 1);
      assert.equal(s.seen[0], `POST /v1/orders/A-1/pay {"payment_method":{"token":"tok"}}`);
      assert.equal(new Set(s.keys).size, 1);
      assert.match(s.keys[0], key ? /^cart-0001$/ : /^[a-z0-9-]{36}$/);
    }
  });
}

test("each call without a key has a key of its own", async (t) => {
  const s = await serve(t, json(201, attempt));
  for (let i = 0; i < 2; i++) await s.client().pay("A-1", method, { onBehalfOf: "u1" });
  assert.notEqual(s.keys[0], s.keys[1]);
  assert.notEqual(newKey(), newKey());
});

test("a final refusal is an error with the problem's members, and is not repeated", async (t) => {
  for (const [status, code, more] of [
    [409, "order-already-paid", { retryable: false }], [409, "payment-in-progress", {}], [422, "validation-failed", { retryable: false, errors: [{ field: "amount", message: "is wrong" }] }],
    [500, "internal", { retryable: false }], [409, "request-in-progress", { retryable: false }],
  ]) {
    const s = await serve(t, problem(status, code, more));
    await assert.rejects(s.client().pay("A-1", method, command), (error) => {
      assert.ok(error instanceof ProblemError && error instanceof Error);
      assert.equal(error.message, `paylatch: ${status} ${code}: Do this. (request r1)`);
      assert.deepEqual([error.name, error.status, error.code, error.safe_new_key, error.errors], ["ProblemError", status, code, false, more.errors]);
      return true;
    });
    assert.equal(s.seen.length, 1, code);
  }
});

test("after the last try the last response counts", async (t) => {
  let s = await serve(t, cut, problem(503, "storage-unavailable"));
  await assert.rejects(s.client().pay("A-1", method, command), { code: "storage-unavailable" });
  assert.equal(s.seen.length, 5);
  s = await serve(t, cut);
  await assert.rejects(s.client().pay("A-1", method, command), TypeError);
  assert.equal(s.seen.length, 5);
  s = await serve(t, page(502));
  await assert.rejects(s.client().readOrder("A-1"), { code: "", status: 502, retryable: true });
});

test("a write without a key is sent once", async (t) => {
  const s = await serve(t, problem(503, "overloaded"));
  await assert.rejects(s.client().checkAttempt("a1"), { code: "overloaded" });
  assert.equal(s.seen.length, 1);
});

test("Retry-After and retry_after_ms are waited for", async (t) => {
  for (const first of [(r) => r.writeHead(503, { "Retry-After": "1" }).end("{}"), problem(503, "overloaded", { retry_after_ms: 900 })]) {
    const s = await serve(t, first, json(200, { order_id: "A-1" }));
    const began = performance.now();
    assert.equal((await s.client().readOrder("A-1")).order_id, "A-1");
    assert.ok(performance.now() - began >= 890);
  }
  // A pause beyond the end is not begun.
  const s = await serve(t, problem(503, "overloaded", { retry_after_ms: 3_600_000 }));
  await assert.rejects(s.client().readOrder("A-1"), { code: "overloaded" });
  assert.equal(s.seen.length, 1);
});

test("a signal ends a call, its pause and its tries", async (t) => {
  const leaving = new AbortController();
  const s = await serve(t, () => leaving.abort(new Error("left")));
  await assert.rejects(s.client().readOrder("A-1", { signal: leaving.signal }), { message: "left" });
  assert.equal(s.seen.length, 1);
  await assert.rejects((await serve(t, () => {})).client().readOrder("A-1", { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" });
  const stop = new AbortController();
  const pausing = await serve(t, (r) => (problem(503, "overloaded", { retry_after_ms: 60_000 })(r), setTimeout(() => stop.abort(new Error("stopped")), 10)));
  await assert.rejects(pausing.client().pay("A-1", method, { ...command, signal: stop.signal }), { message: "stopped" });
  assert.equal(pausing.seen.length, 1);
  await assert.rejects(pausing.client().readOrder("A-1", { signal: stop.signal }), { message: "stopped" });
  assert.equal(pausing.seen.length, 1);
});

test("a try without a response is given up, and sent again", async (t) => {
  const s = await serve(t, () => {}, json(201, attempt));
  assert.equal((await s.client({ timeout: 3000 }).pay("A-1", method, command)).status, "succeeded");
  assert.deepEqual(new Set(s.keys), new Set(["cart-0001"]));
});

test("a list is read page by page", async (t) => {
  const pages = [json(200, { items: [{ order_id: "1" }, { order_id: "2" }], next_cursor: "c/2" }), json(200, { items: [], next_cursor: "c3" }), problem(503, "overloaded"), json(200, { items: [{ order_id: "3" }], next_cursor: null })];
  const s = await serve(t, ...pages);
  const ids = [];
  for await (const order of s.client().listOrders({ status: "paid", limit: 2 }, { onBehalfOf: "u1" })) ids.push(order.order_id);
  assert.deepEqual(ids, ["1", "2", "3"]);
  assert.deepEqual(s.seen, ["GET /v1/orders?status=paid&limit=2 ", "GET /v1/orders?status=paid&limit=2&cursor=c%2F2 ", ...Array(2).fill("GET /v1/orders?status=paid&limit=2&cursor=c3 ")]);
  const early = await serve(t, ...pages);
  for await (const _ of early.client().listOrders()) break;
  assert.equal(early.seen.length, 1);
});

const event = (id) => ({ id, type: "order.paid", created_at: "2026-03-02T10:00:01.000000Z", subject: id, version: 2, data: {} });
const events = (next, ...ids) => json(200, { items: ids.map(event), next_cursor: next });

async function entries(client, after, feed, most = 100) {
  const got = [];
  for await (const { event: e, cursor } of client.readEvents(after, feed)) if (got.push(`${e.id} ${cursor}`) >= most) break;
  return got;
}

test("the feed yields events with the cursor to store", async (t) => {
  const s = await serve(t, events("c2", "e1", "e2"), cut, problem(503, "overloaded"), events("c3", "e3"), events("c3"));
  assert.deepEqual(await entries(s.client(), "c0", { types: ["order.paid", "order.cancelled"], limit: 2, wait: 0 }), ["e1 c0", "e2 c2", "e3 c3"]);
  assert.equal(s.seen[0], "GET /v1/events?after=c0&type=order.paid%2Corder.cancelled&limit=2 ");
  assert.equal(s.seen.at(-1), "GET /v1/events?after=c3&type=order.paid%2Corder.cancelled&limit=2 ");
});

test("the feed waits, and tells of a cursor that moved over other events", async (t) => {
  const s = await serve(t, events("c7"), events("c7"), events("c8", "e1"));
  const moved = [];
  assert.deepEqual(await entries(s.client(), "", { moved: (cursor) => moved.push(cursor) }, 1), ["e1 c8"]);
  assert.deepEqual(moved, ["c7"]);
  assert.deepEqual(s.seen, ["GET /v1/events?wait=20 ", "GET /v1/events?after=c7&wait=20 ", "GET /v1/events?after=c7&wait=20 "]);
});

test("a page that begins now has at most one event and does not wait, so that no entry has the cursor now", async (t) => {
  for (const [first, want, cursors] of [[events("c0"), ["e1 c0", "e2 c2"], ["c0"]], [events("c0", "e0"), ["e0 c0", "e1 c0", "e2 c2"], []]]) {
    const s = await serve(t, (r) => (s.seen[0] === "GET /v1/events?after=now&type=order.paid&limit=1 " ? first : events("c2", "e1", "e2"))(r), events("c2", "e1", "e2"));
    const moved = [];
    assert.deepEqual(await entries(s.client(), "now", { types: ["order.paid"], limit: 2, moved: (cursor) => moved.push(cursor) }, want.length), want);
    assert.deepEqual(moved, cursors);
    assert.equal(s.seen[1], "GET /v1/events?after=c0&type=order.paid&limit=2&wait=20 ");
  }
  const s = await serve(t, events("c0"));
  assert.deepEqual(await entries(s.client(), "now", { wait: 0 }), []);
  assert.equal(s.seen.length, 1);
});

test("after a restore the feed goes on from where nothing is missed, but not in circles", async (t) => {
  const restored = problem(410, "cursor-expired", { retryable: false, restart_after: "e1-1" });
  const s = await serve(t, events("c2", "e1", "e2"), restored, events("c3", "e3"), events("c3"));
  assert.deepEqual(await entries(s.client(), "c0", { wait: 0 }), ["e1 c0", "e2 c2", "e3 c3"]);
  assert.equal(s.seen[2], "GET /v1/events?after=e1-1 ");
  await assert.rejects(entries((await serve(t, restored)).client(), "c0", { wait: 0 }), { code: "cursor-expired" });
});

test("an attempt is followed until it is final", async (t) => {
  const pending = { ...attempt, status: "pending", version: 1 };
  const s = await serve(t, json(200, pending), (r) => r.writeHead(304).end(), json(200, attempt));
  const versions = [];
  for await (const a of s.client().followAttempt("a1")) versions.push(a.version);
  assert.deepEqual(versions, [1, 3]);
  assert.equal(s.seen[1], "GET /v1/payment-attempts/a1?wait=20 ");
  assert.deepEqual(s.headers.map((h) => h["if-none-match"]), [undefined, '"1"', '"1"']);
});

test("each request has the token, the user and escaped ids", async (t) => {
  const s = await serve(t, json(200, {}));
  let n = 0;
  const client = new Paylatch(s.url + "/", async () => `t${++n}`);
  await client.readRefund("a/b?c", { onBehalfOf: "u1" });
  await client.amendOrder("A-1", { amount: 5 }, { onBehalfOf: "u1", key: "key-00000001" });
  assert.deepEqual(s.seen, ["GET /v1/refunds/a%2Fb%3Fc ", `PATCH /v1/orders/A-1 {"amount":5}`]);
  assert.deepEqual(s.headers.map((h) => [h.authorization, h["on-behalf-of"], h["idempotency-key"]]), [["Bearer t1", "u1", undefined], ["Bearer t2", "u1", "key-00000001"]]);
  for (const url of ["", "pay.example", "ftp://pay.example"]) assert.throws(() => new Paylatch(url, "token"));
});
