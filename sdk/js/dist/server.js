/*! paylatch 0.1.0, Apache-2.0 */

// src/server/client.ts
import { randomUUID } from "node:crypto";

// src/server/problem.ts
var ProblemError = class extends Error {
  constructor(problem) {
    super(`paylatch: ${problem.status} ${problem.code}: ${problem.detail} (request ${problem.request_id})`);
    this.name = "ProblemError";
    Object.assign(this, problem);
  }
};
function problemOf(response, text) {
  const document = parse(text);
  if (typeof document?.code === "string" && document.code) return { ...document, status: response.status };
  return {
    type: "about:blank",
    title: "",
    status: response.status,
    detail: response.statusText || "the response is no problem document",
    code: "",
    request_id: response.headers.get("X-Request-Id") ?? "",
    retryable: response.status >= 500,
    safe_new_key: false
  };
}
function parse(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

// src/server/send.ts
async function send(o, url, request) {
  const repeatable = request.method === "GET" || request.headers.has("Idempotency-Key");
  const end = performance.now() + o.giveUp;
  for (let n = 1; ; n++) {
    let last, failure, asked = null;
    try {
      last = await once(o, url, request);
      const text = await last.clone().text();
      if (!repeatable || !passing(last, text)) return last;
      asked = askedFor(last, text);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!repeatable) throw error;
      failure = error;
    }
    const wait = asked ?? Math.min(o.maxPause, o.firstPause * 2 ** (n - 1)) * (0.5 + Math.random());
    if (n >= o.tries || performance.now() + wait > end) {
      if (last) return last;
      throw failure;
    }
    await pause(wait, request.signal);
  }
}
async function once(o, url, { method, headers, body, signal }) {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const leave = () => stop.abort(signal?.reason);
  const late = () => stop.abort(new DOMException(`paylatch: no response within ${o.timeout} ms`, "TimeoutError"));
  const timer = setTimeout(late, o.timeout);
  signal?.addEventListener("abort", leave);
  try {
    const response = await o.fetch(url, { method, headers, signal: stop.signal, ...body === void 0 ? {} : { body } });
    const bytes = await response.arrayBuffer();
    const { status, statusText } = response;
    return new Response(status === 204 || status === 304 ? null : bytes, { status, statusText, headers: response.headers });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}
function passing(response, text) {
  if (response.ok || response.status === 304) return false;
  const { status, code, retryable } = problemOf(response, text);
  if (code && !retryable) return false;
  return status === 408 || status === 429 || status >= 500 || status === 409 && code === "request-in-progress";
}
function askedFor(response, text) {
  const { retry_after_ms: exact } = problemOf(response, text);
  if (typeof exact === "number") return exact;
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return seconds >= 0 ? seconds * 1e3 : null;
}
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      signal?.aborted ? reject(signal.reason) : resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

// src/server/client.ts
var newKey = () => randomUUID();
var Paylatch = class {
  #base;
  #token;
  #sending;
  /** The token is a JWT or an API key with the role `service`, or a function that returns one. Never give it to a page. */
  constructor(url, token, sending = {}) {
    if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`paylatch: ${url} must begin with http:// or https://`);
    this.#base = url.replace(/\/+$/, "");
    this.#token = token;
    this.#sending = { fetch: (input, init) => fetch(input, init), tries: 8, giveUp: 12e4, timeout: 9e4, firstPause: 200, maxPause: 1e4, ...sending };
  }
  /** Creates an order, the amount that a customer owes. */
  createOrder(order, command2) {
    return this.#command("POST", "/v1/orders", order, command2);
  }
  /** Reads an order with its attempts. */
  readOrder(orderId, call) {
    return this.#read(path`/v1/orders/${orderId}`, call);
  }
  /** Changes the terms of an order while no payment of it is under way or done. */
  amendOrder(orderId, changes, command2) {
    return this.#command("PATCH", path`/v1/orders/${orderId}`, changes, command2);
  }
  /** Takes no further pay for an order; a pending attempt is cancelled at its provider. */
  cancelOrder(orderId, command2) {
    return this.#command("POST", path`/v1/orders/${orderId}/cancel`, {}, command2);
  }
  /** Tries to pay an order and returns the attempt, also a pending or failed one. */
  pay(orderId, pay, command2) {
    return this.#command("POST", path`/v1/orders/${orderId}/pay`, pay, command2);
  }
  /** Makes the attempt of a payment that is begun elsewhere. */
  registerAttempt(orderId, attempt, command2) {
    return this.#command("POST", path`/v1/orders/${orderId}/attempts`, attempt, command2);
  }
  /** Lists the attempts of an order; with `client_request_id` the attempt of a pay request whose response was lost. */
  async listAttempts(orderId, query = {}, call) {
    return (await this.#read(path`/v1/orders/${orderId}/attempts`, call, query)).items;
  }
  async readAttempt(attemptId, { version, wait, ...call } = {}) {
    const headers = version === void 0 ? {} : { "If-None-Match": `"${version}"` };
    const response = await this.request("GET", path`/v1/payment-attempts/${attemptId}`, { ...call, query: { wait }, headers });
    return response.status === 304 ? null : this.#content(response);
  }
  /** Yields an attempt now and at each change, by long polls, until it is final. */
  async *followAttempt(attemptId, call = {}) {
    for (let attempt = await this.readAttempt(attemptId, call); ; ) {
      yield attempt;
      if (attempt.status !== "pending") return;
      let newer = null;
      while (!newer) {
        const began = performance.now();
        newer = await this.readAttempt(attemptId, { ...call, version: attempt.version, wait: 20 });
        if (!newer) await pause(Math.max(0, 1e3 - (performance.now() - began)), call.signal);
      }
      attempt = newer;
    }
  }
  /** Captures an authorized attempt, all of it or `amount`. */
  confirm(attemptId, confirm, command2) {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/confirm`, confirm, command2);
  }
  /** Passes on what the provider's page or script returned. */
  complete(attemptId, complete, command2) {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/complete`, complete, command2);
  }
  /** Asks the provider now, at most once in 3 seconds. */
  checkAttempt(attemptId, call = {}) {
    return this.#json("POST", path`/v1/payment-attempts/${attemptId}/check`, call);
  }
  /** Reports the backend's knowledge of a payment that began elsewhere. */
  reportAttempt(attemptId, report2, command2) {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/report`, report2, command2);
  }
  /** Cancels a pending attempt at its provider; it has failed once the provider reports that. */
  cancelAttempt(attemptId, command2) {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/cancel`, {}, command2);
  }
  /** Refunds money of an attempt: `amount`, or all that is left. */
  createRefund(attemptId, refund, command2) {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/refunds`, refund, command2);
  }
  /** Reads a refund. */
  readRefund(refundId, call) {
    return this.#read(path`/v1/refunds/${refundId}`, call);
  }
  /** Reads a dispute. */
  readDispute(disputeId, call) {
    return this.#read(path`/v1/disputes/${disputeId}`, call);
  }
  /** Reads a payout. */
  readPayout(payoutId, call) {
    return this.#read(path`/v1/payouts/${payoutId}`, call);
  }
  /** Lists orders, newest first. Pages are read as they are needed, from the query's cursor on. */
  listOrders(query = {}, call) {
    return this.#list("/v1/orders", query, call);
  }
  /** Lists payment attempts as {@link listOrders} does orders. */
  listPaymentAttempts(query = {}, call) {
    return this.#list("/v1/payment-attempts", query, call);
  }
  /** Lists refunds as {@link listOrders} does orders. */
  listRefunds(query = {}, call) {
    return this.#list("/v1/refunds", query, call);
  }
  /** Lists disputes as {@link listOrders} does orders. */
  listDisputes(query = {}, call) {
    return this.#list("/v1/disputes", query, call);
  }
  /** Lists settlements as {@link listOrders} does orders. */
  listSettlements(query = {}, call) {
    return this.#list("/v1/settlements", query, call);
  }
  /** Lists payouts as {@link listOrders} does orders. */
  listPayouts(query = {}, call) {
    return this.#list("/v1/payouts", query, call);
  }
  /** Lists reconciliations as {@link listOrders} does orders. */
  listReconciliations(query = {}, call) {
    return this.#list("/v1/reconciliations", query, call);
  }
  /** Lists the tries to deliver events to an endpoint, newest first. */
  listDeliveries(endpoint, query = {}, call) {
    return this.#list(path`/v1/endpoints/${endpoint}/deliveries`, query, call);
  }
  /** Lists the endpoints and their progress. */
  async listEndpoints(query = {}, call) {
    return (await this.#read("/v1/endpoints", call, query)).items;
  }
  /** Sends a test event to an endpoint, and returns its result. */
  testEndpoint(endpoint, query = {}, call = {}) {
    return this.#json("POST", path`/v1/endpoints/${endpoint}/test`, { ...call, query });
  }
  /** Delivers events again: all after a cursor, or some by their ids. */
  async redeliver(endpoint, which, query = {}, call = {}) {
    return (await this.#json("POST", path`/v1/endpoints/${endpoint}/redeliver`, { ...call, query, body: which })).items;
  }
  /**
   * Yields events, oldest first, from a cursor on; without one from the oldest kept event, with `now` behind the newest. It waits for new events,
   * and ends by an error or the signal. Go on with the last entry's cursor. An event is delivered at least once. If the server's database was
   * restored to a time before the cursor, reading goes on from where no event is missed, and some events come again.
   */
  async *readEvents(after = "", feed = {}) {
    const { wait = 20 } = feed;
    for (; ; ) {
      let page;
      try {
        page = await (after === "now" ? this.#events(after, { ...feed, limit: 1 }, 0) : this.#events(after, feed, wait));
      } catch (error) {
        const restart = error instanceof ProblemError ? error.restart_after : void 0;
        if (!restart || restart === after) throw error;
        page = await this.#events(after = restart, feed, wait);
      }
      const { items, next_cursor: next } = page;
      for (const [i, event] of items.entries()) yield { event, cursor: i === items.length - 1 ? next : after };
      if (items.length === 0) {
        if (next !== after) await feed.moved?.(next);
        if (wait <= 0) return;
      }
      after = next;
    }
  }
  #events(after, { types, limit, signal }, wait) {
    return this.#json("GET", "/v1/events", {
      signal,
      query: { after: after || void 0, type: types?.length ? types.join(",") : void 0, limit, wait: wait > 0 ? wait : void 0 }
    });
  }
  /** Sends a request that has no method here, with the same retries, and returns the last response, also a refusal. */
  async request(method, path2, raw = {}) {
    const { query = {}, body, onBehalfOf, signal, headers: own, ...sending } = raw;
    const url = new URL(this.#base + path2);
    for (const [name, value] of Object.entries(query)) if (value !== void 0) url.searchParams.set(name, String(value));
    const token = typeof this.#token === "string" ? this.#token : await this.#token();
    const headers = new Headers({ Accept: "application/json", ...own, Authorization: `Bearer ${token}` });
    if (onBehalfOf !== void 0) headers.set("On-Behalf-Of", onBehalfOf);
    if (body !== void 0) headers.set("Content-Type", "application/json");
    const text = body === void 0 || typeof body === "string" ? body : JSON.stringify(body);
    return send({ ...this.#sending, ...sending }, url.href, { method, headers, body: text, signal });
  }
  #command(method, path2, body, { key = newKey(), ...call }) {
    return this.#json(method, path2, { ...call, body, headers: { "Idempotency-Key": key } });
  }
  #read(path2, call, query) {
    return this.#json("GET", path2, { ...call, query });
  }
  async *#list(path2, query, call) {
    let cursor = query.cursor ?? null;
    do {
      const page = await this.#read(path2, call, { ...query, cursor: cursor ?? void 0 });
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }
  async #json(method, path2, raw) {
    return this.#content(await this.request(method, path2, raw));
  }
  async #content(response) {
    const text = await response.text();
    if (!response.ok) throw new ProblemError(problemOf(response, text));
    return JSON.parse(text);
  }
};
function path(parts, ...ids) {
  return parts.reduce((whole, part, i) => whole + encodeURIComponent(ids[i - 1] ?? "") + part);
}

// src/server/event.ts
import { createHmac, timingSafeEqual } from "node:crypto";
var NotGenuineError = class extends Error {
  constructor() {
    super(...arguments);
    this.name = "NotGenuineError";
  }
};
function parseEvent(secrets, headers, body, options = {}) {
  verify(secrets, headers, body, options);
  const event = parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  const id = header(headers, "webhook-id");
  if (!event?.id || event.id !== id) throw new Error(`paylatch: a genuine delivery with the id ${id} holds no event of this id`);
  return event;
}
function checkSecrets(secrets) {
  if (secrets.length === 0) throw new Error("paylatch: no secret to verify by");
  secrets.forEach(keyOf);
}
function verify(secrets, headers, body, { now = Date.now(), tolerance = 300 }) {
  if (secrets.length === 0) checkSecrets(secrets);
  const id = header(headers, "webhook-id"), stamp = header(headers, "webhook-timestamp"), signatures = header(headers, "webhook-signature").split(" ");
  const fresh = /^[+-]?\d{1,15}$/.test(stamp) && Math.abs(now - Number(stamp) * 1e3) <= tolerance * 1e3;
  for (const [i, secret] of secrets.entries()) {
    const mac = createHmac("sha256", keyOf(secret, i)).update(`${id}.${Number(stamp)}.`).update(body).digest("base64");
    if (id && fresh && signatures.some((signature) => signedBy(mac, signature))) return;
  }
  throw new NotGenuineError(fresh ? "paylatch: no secret has signed the delivery" : "paylatch: the delivery has no time, or is too old or too new");
}
function signedBy(mac, signature) {
  const [version, given = ""] = signature.split(",");
  const a = new TextEncoder().encode(mac), b = new TextEncoder().encode(given);
  return version === "v1" && a.length === b.length && timingSafeEqual(a, b);
}
function keyOf(secret, i) {
  const text = secret.replace(/^whsec_/, "");
  if (!text || secret.length <= "whsec_".length) throw new Error(`paylatch: secret ${i} is empty`);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new Error(`paylatch: secret ${i} is not whsec_ and base64`);
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
function header(headers, name) {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const value = headers[name] ?? Object.entries(headers).find(([n]) => n.toLowerCase() === name)?.[1];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

// src/server/node.ts
function toNode(handler) {
  return (request, response, next) => {
    answer(handler, request, response).catch((error) => {
      if (next) return next(error);
      console.error(error);
      response.statusCode = 500;
      response.end(new Uint8Array());
    });
  };
}
async function answer(handler, request, response) {
  if (request.readableDidRead) throw new Error("paylatch: something has read the body; mount toNode before express.json()");
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const { status, headers, body } = await handler(webRequest(request, gone.signal), request);
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  response.statusCode = status;
  headers.forEach((value, name) => response.setHeader(name, value));
  if (!request.complete) response.setHeader("Connection", "close");
  response.end(bytes);
}
function webRequest(from, signal) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(from.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== void 0 && !name.startsWith(":")) headers.append(name, one);
  }
  const method = from.method ?? "GET";
  const url = new URL("http://" + (headers.get("Host") ?? "localhost") + (from.originalUrl ?? from.url ?? "/"));
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const chunks = from[Symbol.asyncIterator]();
  const body = new ReadableStream({
    async pull(to) {
      const { done, value } = await chunks.next();
      if (done) to.close();
      else to.enqueue(value);
    }
  });
  const init = { method, headers, signal, body, duplex: "half" };
  return new Request(url, init);
}

// src/server/api.ts
var setByPages = [
  "payment_method.token",
  "payment_method.type",
  "save_payment_method",
  "customer.email",
  "customer.name",
  "customer.phone",
  "customer.ip",
  "customer.locale",
  "customer.billing_address.line1",
  "customer.billing_address.line2",
  "customer.billing_address.city",
  "customer.billing_address.postal_code",
  "customer.billing_address.state",
  "customer.billing_address.country",
  "customer.shipping_address.line1",
  "customer.shipping_address.line2",
  "customer.shipping_address.city",
  "customer.shipping_address.postal_code",
  "customer.shipping_address.state",
  "customer.shipping_address.country",
  "browser.user_agent",
  "browser.accept_header",
  "browser.language",
  "browser.color_depth",
  "browser.screen_height",
  "browser.screen_width",
  "browser.time_zone_offset",
  "browser.java_enabled",
  "return_url",
  "amount",
  "currency"
];

// src/server/shop.ts
var maxBody = 96 << 10;
var maxEvent = 1 << 20;
var command = { timeout: 2e4, giveUp: 1e4 };
var poll = { timeout: 75e3, tries: 1 };
var forwarded = ["Content-Type", "ETag", "Retry-After", "Idempotency-Key", "Idempotency-Result", "Idempotency-Replayed", "Preference-Applied", "X-Request-Id"];
var Refusal = class extends Error {
  constructor(status, code, detail, members = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.members = members;
  }
};
function createShop(shop) {
  const base = (shop.base ?? "/checkout").replace(/\/+$/, "");
  return (request, context) => guarded(shop, request, async () => {
    const { pathname, searchParams } = new URL(request.url);
    const [, id = "", step = ""] = pathname.startsWith(base + "/") && /^\/([^/]+)(?:\/(pay|status|complete))?$/.exec(pathname.slice(base.length)) || [];
    if (!id) throw new Refusal(404, "not-found", "There is nothing at this address.");
    if (request.method !== (step === "status" ? "GET" : "POST")) throw new Refusal(405, "method-not-allowed", "Use another method at this address.");
    if (fromElsewhere(request, shop.origins)) throw new Refusal(403, "forbidden", "The request comes from a page of another site.");
    const user = await shop.user(request, context);
    if (!user) throw new Refusal(401, "unauthenticated", "Sign in at the shop.");
    const order = decoded(id);
    switch (step) {
      case "":
        return forward(shop, "POST", "/v1/orders", await newOrder(shop, user, order));
      case "pay":
        return forward(shop, "POST", `/v1/orders/${encodeURIComponent(order)}/pay`, await payOf(shop, request, user, order));
      case "status": {
        const headers = pick(request.headers, ["If-None-Match", "Prefer"]);
        return forward(shop, "GET", attemptPath(searchParams), { ...poll, onBehalfOf: user, headers, signal: request.signal });
      }
      default:
        return forward(shop, "POST", attemptPath(searchParams) + "/complete", await completeOf(request, user));
    }
  });
}
function createReceiver({ secrets, act, onError }) {
  checkSecrets(secrets);
  return (request) => guarded({ onError }, request, async () => {
    if (request.method !== "POST") throw new Refusal(405, "method-not-allowed", "Use POST.");
    const body = await bytesOf(request, maxEvent);
    let event;
    try {
      event = parseEvent(secrets, request.headers, body);
    } catch (error) {
      if (error instanceof NotGenuineError) throw new Refusal(400, "not-genuine", "The delivery is not genuine.");
      throw error;
    }
    try {
      await act(event);
    } catch (error) {
      report({ onError }, error);
      throw new Refusal(503, "not-acted-on", "The event was not acted on. Deliver it again.");
    }
    return new Response(null, { status: 204 });
  });
}
function decoded(part) {
  const id = part.replaceAll(/%3A/gi, ":").replaceAll(/%7E/gi, "~");
  if (!/^[A-Za-z0-9._:~-]{1,128}$/.test(id)) throw new Refusal(404, "not-found", "There is no such order of yours.");
  return id;
}
async function newOrder(shop, user, order) {
  const terms = await shop.order(user, order);
  if (!terms) throw new Refusal(404, "not-found", "There is no such order of yours.");
  return { ...command, onBehalfOf: user, headers: { "Idempotency-Key": `create-order-${order}` }, body: { ...terms, order_id: order } };
}
async function payOf(shop, request, user, order) {
  const headers = keyOf2(request);
  const body = await jsonOf(request);
  const refused = others(body, "");
  if (refused.length > 0) throw new Refusal(422, "validation-failed", "A page may not set these members. Leave them out.", refused);
  const pay = body;
  return { ...command, onBehalfOf: user, headers, body: shop.pay ? await shop.pay(pay, user, order) : pay };
}
async function completeOf(request, user) {
  const headers = keyOf2(request);
  const { details, ...rest } = await jsonOf(request);
  if (Object.keys(rest).length > 0) throw new Refusal(422, "validation-failed", "Send details alone.", Object.keys(rest));
  return { ...command, onBehalfOf: user, headers, body: { details } };
}
function others(value, prefix) {
  return Object.entries(value).flatMap(([name, member]) => {
    const path2 = prefix + name;
    if (setByPages.includes(path2)) return [];
    const nested = isObject(member) && setByPages.some((known) => known.startsWith(path2 + "."));
    return nested ? others(member, path2 + ".") : [path2];
  });
}
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function keyOf2(request) {
  const key = request.headers.get("Idempotency-Key");
  if (!key) throw new Refusal(400, "idempotency-key-missing", "Send the header Idempotency-Key: one key for each intention of the customer.");
  return { "Idempotency-Key": key };
}
function attemptPath(query) {
  const id = query.get("payment_attempt_id");
  if (!id) throw new Refusal(422, "validation-failed", "Name the payment_attempt_id in the query.", ["payment_attempt_id"]);
  return `/v1/payment-attempts/${encodeURIComponent(id)}`;
}
async function forward(shop, method, path2, raw) {
  let response;
  try {
    response = await shop.paylatch.request(method, path2, raw);
    if (response.status === 401) throw new Error(`paylatch refused the shop's token: ${await response.text()}`);
  } catch (error) {
    if (!raw.signal?.aborted) report(shop, error);
    throw new Refusal(502, "no-response", "The payment service can't be reached. Send the same request again with the same key.");
  }
  return new Response(response.body, { status: response.status, headers: { ...pick(response.headers, forwarded), "Cache-Control": "no-store" } });
}
function pick(headers, names) {
  return Object.fromEntries(names.flatMap((name) => headers.has(name) ? [[name, headers.get(name)]] : []));
}
function fromElsewhere({ method, headers, url }, origins = []) {
  const site = headers.get("Sec-Fetch-Site"), origin = headers.get("Origin");
  if (method === "GET" || site === "same-origin" || site === "none" || origin !== null && origins.includes(origin)) return false;
  if (site !== null) return true;
  return origin !== null && (!URL.canParse(origin) || new URL(origin).host !== (headers.get("Host") ?? new URL(url).host));
}
async function jsonOf(request) {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("Content-Type") ?? "")) {
    throw new Refusal(415, "unsupported-media-type", "Send application/json.");
  }
  const body = parse(new TextDecoder().decode(await bytesOf(request, maxBody)));
  if (!isObject(body)) throw new Refusal(400, "malformed-request", "Send a JSON object.");
  return body;
}
async function bytesOf(request, most) {
  const chunks = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (; ; ) {
    const part = await reader?.read();
    if (!part?.value) break;
    length += part.value.length;
    if (length > most) throw new Refusal(413, "body-too-large", `Send at most ${most} bytes.`);
    chunks.push(part.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
function report({ onError = console.error }, error) {
  onError(error);
}
async function guarded(to, request, answer2) {
  try {
    return await answer2();
  } catch (error) {
    if (!(error instanceof Refusal)) report(to, error);
    const { status, code, message: detail, members } = error instanceof Refusal ? error : new Refusal(500, "internal", "The shop failed. Send the same request again with the same key.");
    const errors = members.map((field) => ({ field, message: detail }));
    const problem = {
      type: "about:blank",
      title: code,
      status,
      detail,
      code,
      request_id: request.headers.get("X-Request-Id") ?? "",
      retryable: status >= 500,
      safe_new_key: false,
      ...status >= 502 ? { retry_after_ms: 1e3 } : {},
      ...errors.length > 0 ? { errors } : {}
    };
    const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
    return new Response(JSON.stringify(problem), { status, headers: status >= 502 ? { ...headers, "Retry-After": "1" } : headers });
  }
}
export {
  NotGenuineError,
  Paylatch,
  ProblemError,
  createReceiver,
  createShop,
  newKey,
  parseEvent,
  toNode
};
