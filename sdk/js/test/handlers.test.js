// The routes of a checkout without a paylatch behind them, and the receiver of events.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { createReceiver, createShop, NotGenuineError, parseEvent, Paylatch, toNode } from "../dist/server.js";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", retired = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const news = `{"id":"evt_1","type":"order.paid","created_at":"2026-03-02T10:00:01.000002Z","subject":"A-1","version":3,"data":{"order_id":"A-1"}}`;

function signed(id, body, at = Date.now(), by = secret) {
  const stamp = Math.floor(at / 1000), mac = createHmac("sha256", Buffer.from(by.slice(6), "base64")).update(`${id}.${stamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(stamp), "webhook-signature": `v1,${mac}` };
}

test("an event is parsed by either of two secrets, from a text or bytes", () => {
  const headers = signed("evt_1", news);
  for (const secrets of [[secret], [retired, secret], [secret, retired]]) {
    for (const body of [news, Buffer.from(news)]) assert.equal(parseEvent(secrets, headers, body).data.order_id, "A-1");
    assert.equal(parseEvent(secrets, new Headers(headers), news).version, 3);
  }
  assert.throws(() => parseEvent([retired], headers, news), NotGenuineError);
  assert.throws(() => parseEvent([secret], headers, news, { now: Date.now() + 302_000 }), NotGenuineError);
  assert.equal(parseEvent([secret], headers, news, { now: Date.now() + 302_000, tolerance: 400 }).id, "evt_1");
  for (const secrets of [[], [""], ["whsec_"], ["whsec_not base64"]]) {
    assert.throws(() => parseEvent(secrets, headers, news), (error) => !(error instanceof NotGenuineError));
    assert.throws(() => createReceiver({ secrets, act: async () => {} }));
  }
});

test("the receiver answers by what became of the event", async () => {
  const acted = [], errors = [];
  let fails = false;
  const receive = createReceiver({
    secrets: [retired, secret], onError: (error) => errors.push(error.message),
    act: async (event) => {
      if (fails) throw new Error("the database is away");
      acted.push(event.id);
    },
  });
  const post = async (headers, body, method = "POST") => (await receive(new Request("https://shop.example/events", { method, headers, ...(method === "POST" ? { body } : {}) }))).status;
  assert.equal(await post(signed("evt_1", news), news), 204);
  assert.equal(await post(signed("evt_1", news), news + " "), 400);
  assert.equal(await post({}, news), 400);
  assert.equal(await post(signed("evt_2", news), news), 500);
  assert.equal(await post(signed("evt_1", "{"), "{"), 500);
  const large = news.slice(0, -1) + `,"more":"${"x".repeat(1 << 20)}"}`;
  assert.equal(await post(signed("evt_1", large), large), 413);
  assert.equal(await post({}, "", "GET"), 405);
  fails = true;
  assert.equal(await post(signed("evt_1", news), news), 503);
  assert.deepEqual(acted, ["evt_1"]);
  assert.equal(errors.length, 3);
});

/** A shop at a paylatch that shows what it gets. */
async function shopOf(t, options = {}) {
  const seen = [];
  const http = createServer(async (q, r) => {
    let text = "";
    for await (const part of q) text += part;
    seen.push({ call: `${q.method} ${q.url}`, body: text && JSON.parse(text), key: q.headers["idempotency-key"], user: q.headers["on-behalf-of"] });
    (options.answer ?? ((r) => r.writeHead(201, { "Content-Type": "application/json", ETag: '"1"', "X-Internal": "1" }).end(`{"ok":true}`)))(r, q);
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  t.after(() => (http.closeAllConnections(), http.close()));
  const errors = [];
  const shop = createShop({
    paylatch: new Paylatch("http://127.0.0.1:" + http.address().port, "token", { firstPause: 1, tries: 2 }),
    user: (request) => request.headers.get("X-User"),
    order: (user, id) => (user === "u1" && id === "A-1" ? { amount: 1999, currency: "EUR" } : null),
    onError: (error) => errors.push(error),
    ...options,
  });
  const send = (method, path, body, headers = {}) => shop(new Request("https://shop.example" + path, {
    method, headers: { "X-User": "u1", "Content-Type": "application/json", ...headers }, ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  }));
  return { shop, seen, errors, send };
}

const pay = { payment_method: { token: "tok" }, return_url: "https://shop.example/A-1" };
const key = { "Idempotency-Key": "press-0001" };

test("the four routes act for the signed-in user, with the shop's price", async (t) => {
  const s = await shopOf(t, { pay: (body, user, id) => ({ ...body, account: `${user}-${id}` }) });
  const created = await s.send("POST", "/checkout/A-1", { amount: 1 });
  assert.deepEqual([created.status, await created.text(), created.headers.get("ETag"), created.headers.get("X-Internal"), created.headers.get("Cache-Control")], [201, `{"ok":true}`, '"1"', null, "no-store"]);
  await s.send("POST", "/checkout/A-1/pay", pay, key);
  await s.send("GET", "/checkout/A-1/status?payment_attempt_id=a%2F1");
  await s.send("POST", "/checkout/A-1/complete?payment_attempt_id=a1", { details: { x: 1 } }, key);
  assert.deepEqual(s.seen, [
    { call: "POST /v1/orders", body: { amount: 1999, currency: "EUR", order_id: "A-1" }, key: "create-order-A-1", user: "u1" },
    { call: "POST /v1/orders/A-1/pay", body: { ...pay, account: "u1-A-1" }, key: "press-0001", user: "u1" },
    { call: "GET /v1/payment-attempts/a%2F1", body: "", key: undefined, user: "u1" },
    { call: "POST /v1/payment-attempts/a1/complete", body: { details: { x: 1 } }, key: "press-0001", user: "u1" },
  ]);
});

test("the key of an order is a key of the contract, for the shortest and the longest id", async (t) => {
  for (const id of ["7", "A-1", "x".repeat(128)]) {
    const s = await shopOf(t, { order: () => ({ amount: 1999, currency: "EUR" }) });
    assert.equal((await s.send("POST", "/checkout/" + id)).status, 201);
    assert.match(s.seen[0].key, /^[A-Za-z0-9._:~-]{8,200}$/);
    assert.ok(s.seen[0].key.endsWith(id));
  }
});

test("what a page may not do never reaches paylatch", async (t) => {
  const s = await shopOf(t);
  const refused = async (status, ...request) => {
    const response = await s.send(...request);
    const problem = await response.json();
    assert.equal(response.status, status, JSON.stringify([request, problem]));
    assert.equal(problem.status, status);
    return problem;
  };
  const to = "/checkout/A-1/pay";
  assert.deepEqual((await refused(422, "POST", to, { ...pay, capture: "manual", payment_method: { token: "t", stored: true }, customer: { reference: "c", email: "a@b.c" }, account: "x", new_one: 1 }, key)).errors.map((e) => e.field),
    ["payment_method.stored", "capture", "customer.reference", "account", "new_one"]);
  await refused(422, "POST", "/checkout/A-1/complete?payment_attempt_id=a1", { details: {}, amount: 1 }, key);
  await refused(422, "POST", "/checkout/A-1/complete", { details: {} }, key);
  await refused(422, "GET", "/checkout/A-1/status");
  await refused(400, "POST", to, pay);
  await refused(400, "POST", to, "{", key);
  await refused(400, "POST", to, "[]", key);
  await refused(400, "POST", to, "null", key);
  await refused(415, "POST", to, pay, { ...key, "Content-Type": "text/plain" });
  await refused(413, "POST", to, { payment_method: { token: "x".repeat(96 << 10) } }, key);
  await refused(401, "POST", to, pay, { ...key, "X-User": "" });
  await refused(404, "POST", "/checkout/A-2");
  await refused(404, "POST", "/checkout/A-1", undefined, { "X-User": "u2" });
  for (const path of ["/checkout/", "/checkout", "/checkout/A-1/else", "/else/A-1", "/checkout/A-1/pay/x", "/checkout/%E0", "/checkout/a%2Fb"]) await refused(404, "POST", path);
  await refused(405, "GET", to);
  await refused(405, "POST", "/checkout/A-1/status?payment_attempt_id=a1");
  for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }, { Origin: "https://evil.example" }, { Origin: "null" }]) {
    await refused(403, "POST", "/checkout/A-1", undefined, headers);
    await refused(403, "POST", to, pay, { ...key, ...headers });
  }
  assert.deepEqual(s.seen, []);
  assert.deepEqual(s.errors, []);
});

test("pages of the shop's own and of its other origins may send", async (t) => {
  const s = await shopOf(t, { origins: ["https://www.shop.example"] });
  for (const headers of [
    { "Sec-Fetch-Site": "same-origin", Origin: "https://else.example" }, { "Sec-Fetch-Site": "none" }, { Origin: "https://shop.example" }, {},
    { "Sec-Fetch-Site": "same-site", Origin: "https://www.shop.example" },
  ]) assert.equal((await s.send("POST", "/checkout/A-1/pay", pay, { ...key, ...headers })).status, 201);
});

test("without a response of paylatch the page is asked to send again", async (t) => {
  const silent = await shopOf(t, { answer: (r) => r.destroy() });
  const response = await silent.send("POST", "/checkout/A-1/pay", pay, key);
  assert.deepEqual([response.status, response.headers.get("Retry-After"), (await response.json()).retryable], [502, "1", true]);
  assert.equal(silent.errors.length, 1);
  const barred = await shopOf(t, { answer: (r) => r.writeHead(401).end("{}") });
  assert.equal((await barred.send("POST", "/checkout/A-1/pay", pay, key)).status, 502, "the page's user is not whom it refuses");
  const refusing = await shopOf(t, { answer: (r) => r.writeHead(409, { "Content-Type": "application/problem+json" }).end(`{"code":"order-already-paid"}`) });
  const refused = await refusing.send("POST", "/checkout/A-1/pay", pay, key);
  assert.deepEqual([refused.status, await refused.text()], [409, `{"code":"order-already-paid"}`]);
  const unchanged = await shopOf(t, { answer: (r, q) => r.writeHead(q.headers["if-none-match"] === '"3"' && q.headers.prefer === "wait=20" ? 304 : 500).end() });
  assert.equal((await unchanged.send("GET", "/checkout/A-1/status?payment_attempt_id=a1", undefined, { "If-None-Match": '"3"', Prefer: "wait=20" })).status, 304);
  const broken = await shopOf(t, { user: () => { throw new Error("no sessions"); } });
  assert.equal((await broken.send("POST", "/checkout/A-1/pay", pay, key)).status, 500);
  assert.equal(broken.errors[0].message, "no sessions");
});

test("toNode serves a handler by Node's http server", async (t) => {
  const s = await shopOf(t, { user: (_, q) => q.headers["x-user"] ?? null });
  const server = createServer(toNode(s.shop));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const at = `http://127.0.0.1:${server.address().port}/checkout/A-1`;
  const send = (path, body, headers = {}) => fetch(at + path, { method: "POST", body, headers: { "X-User": "u1", "Content-Type": "application/json", ...headers } });
  const paid = await send("/pay", JSON.stringify(pay), key);
  assert.deepEqual([paid.status, await paid.json(), s.seen[0].body], [201, { ok: true }, pay]);
  assert.equal((await send("/pay", JSON.stringify(pay), { ...key, Origin: at.slice(0, -13) })).status, 201);
  assert.equal((await send("/pay", JSON.stringify(pay), { ...key, Origin: "http://127.0.0.1:1" })).status, 403);
  assert.equal((await send("/pay", JSON.stringify({ payment_method: { token: "x".repeat(96 << 10) } }), key)).status, 413);
  assert.equal((await fetch(at + "/status?payment_attempt_id=a1", { headers: { "X-User": "u1" } })).status, 201);
  assert.equal((await send("/pay", "{}", { ...key, "X-User": "" })).status, 401);
});
