// The routes within Express: below a router's path, and before or after a parser of bodies.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import express from "express";
import { createReceiver, createShop, Paylatch, toNode } from "paylatch/server";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async function listen(t, app) {
  const server = await new Promise((resolve) => {
    const s = app.listen(0, "127.0.0.1", () => resolve(s));
  });
  t.after(() => (server.closeAllConnections(), server.close()));
  return "http://127.0.0.1:" + server.address().port;
}

test("a shop below a path, and a receiver, before express.json()", async (t) => {
  const api = express();
  const seen = [];
  api.use(express.json(), (q, r) => (seen.push([q.method, q.url, q.body, q.get("On-Behalf-Of")]), r.status(201).json({ ok: true })));
  const acted = [];
  const app = express();
  app.use((request, _, next) => ((request.user = "u1"), next()));
  app.use("/checkout", toNode(createShop({ paylatch: new Paylatch(await listen(t, api), "token"), user: (_, request) => request.user, order: () => ({ amount: 1999, currency: "EUR" }) })));
  app.post("/events", toNode(createReceiver({ secrets: [secret], act: async (event) => acted.push(event.id) })));
  app.use(express.json());
  app.post("/own", (q, r) => r.json(q.body));
  const at = await listen(t, app);
  const send = (path, body, headers = {}) => fetch(at + path, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
  const paid = await send("/checkout/A-1/pay", `{"payment_method":{"token":"tok"}}`, { "Idempotency-Key": "press-0001" });
  assert.deepEqual([paid.status, await paid.json()], [201, { ok: true }]);
  assert.deepEqual(seen, [["POST", "/v1/orders/A-1/pay", { payment_method: { token: "tok" } }, "u1"]]);
  const event = `{"id":"evt_1","type":"order.paid"}`, stamp = Math.floor(Date.now() / 1000);
  const signature = "v1," + createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`evt_1.${stamp}.${event}`).digest("base64");
  assert.equal((await send("/events", event, { "webhook-id": "evt_1", "webhook-timestamp": String(stamp), "webhook-signature": signature })).status, 204);
  assert.deepEqual(acted, ["evt_1"]);
  assert.deepEqual(await (await send("/own", `{"a":1}`)).json(), { a: 1 });
});

test("after express.json() the mistake is named", async (t) => {
  const app = express();
  app.use(express.json(), toNode(createReceiver({ secrets: [secret], act: async () => {} })));
  const errors = [];
  app.use((error, _request, response, _next) => (errors.push(error.message), response.sendStatus(500)));
  assert.equal((await fetch(await listen(t, app), { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } })).status, 500);
  assert.match(errors[0], /before express\.json/);
});
