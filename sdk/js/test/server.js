// A server that keeps the contract's rules about keys and attempts, and breaks down on request.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";

export const token = "pst_one";

/** @param {import("node:test").TestContext} t */
export async function startServer(t) {
  const s = new Server();
  await new Promise((resolve) => s.http.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    s.http.closeAllConnections();
    s.http.close();
  });
  s.url = "http://127.0.0.1:" + s.http.address().port;
  return s;
}

class Server {
  attempts = [];
  /** What arrived, as "METHOD path". */
  log = [];
  /** The attempts that the provider was asked about, and what it does then. */
  checks = [];
  asked = null;
  refusesChecks = false;
  keys = [];
  bodies = [];
  tokens = [];
  times = [];
  /** Faults of the next pays, and of the next other requests: functions of (response, go on). */
  payFaults = [];
  readFaults = [];
  stream = true;
  wait = true;
  /** What a pay becomes at once, and after `later` milliseconds. */
  becomes = { status: "pending", stage: "requested" };
  later = null;
  /** What the shop's backend adds for the provider's script. */
  form = null;
  refusal = null;
  /** The completes that arrived, as {key, body, path, authorization}; faults of the next ones; what they do to an attempt. */
  completes = [];
  completeFaults = [];
  completed = (a) => this.finish(a, "succeeded");
  sockets = new Set();

  constructor() {
    this.http = createServer((q, r) => void this.serve(q, r).catch(() => r.destroy()));
  }

  attempt(change = {}) {
    const a = {
      payment_attempt_id: randomUUID(), order_id: "A-1", status: "pending", stage: "requested", amount: 1999, currency: "EUR",
      amount_captured: 0, amount_refunded: 0, amount_disputed: 0, next_action: null, failure: null, can_start_new_attempt: false, next_poll_ms: 20,
      version: 1, listeners: new Set(), key: null, body: null, ...change,
    };
    this.attempts.push(a);
    return a;
  }

  move(a, change) {
    Object.assign(a, change, { version: a.version + 1 });
    for (const listener of [...a.listeners]) listener();
  }

  finish(a, status, canStart = status === "failed") {
    this.move(a, { status, stage: "final", next_action: null, can_start_new_attempt: canStart });
  }

  async serve(q, r) {
    const at = Date.now();
    const url = new URL(q.url, "http://x");
    let text = "";
    for await (const part of q) text += part;
    if (url.pathname.endsWith("/check")) return this.check(q, r, url);
    if (url.pathname.endsWith("/complete")) return this.complete(q, r, url, text);
    this.log.push(q.method + " " + url.pathname);
    this.times.push(at);
    this.tokens.push(q.headers.authorization ?? "");
    const faults = q.method === "POST" ? this.payFaults : this.readFaults;
    const act = () => (q.method === "POST" ? this.pay(q, r, text) : this.read(q, r, url));
    const fault = faults.shift();
    if (q.method === "POST") {
      this.keys.push(q.headers["idempotency-key"]);
      this.bodies.push(text);
    }
    return fault ? fault(r, act) : act();
  }

  pay(q, r, body) {
    if (this.refusal) return problem(r, ...this.refusal);
    const key = q.headers["idempotency-key"];
    let a = this.attempts.find((x) => x.key === key);
    if (a && a.body !== body) return problem(r, 409, "idempotency-key-reused");
    const live = this.attempts.find((x) => x.status !== "failed");
    if (!a && live?.status === "succeeded") return problem(r, 409, "order-already-paid");
    if (!a && live) return problem(r, 409, "payment-in-progress", { attempt: shown(live) });
    if (!a) {
      a = this.attempt({ key, body, ...this.becomes });
      if (this.later) setTimeout(() => this.finish(a, this.later.status), this.later.after).unref();
    }
    json(r, 201, { ...shown(a), status_token: token, ...(this.form && { form: { secret: this.form + this.attempts.indexOf(a) } }) });
  }

  /** The second step: a key that was executed shows the attempt as it is, another one needs an attempt that waits. */
  complete(q, r, url, text) {
    const id = url.searchParams.get("payment_attempt_id") ?? url.pathname.split("/")[3];
    const a = this.attempts.find((x) => x.payment_attempt_id === id), key = q.headers["idempotency-key"];
    const done = this.completes.some((c) => c.key === key && c.done);
    const sent = { key, body: text, path: url.pathname, authorization: q.headers.authorization, done };
    this.completes.push(sent);
    const act = () => {
      if (!a) return problem(r, 404, "not-found");
      if (!done && a.stage !== "awaiting_customer") return problem(r, 409, "attempt-not-completable");
      if (!done) this.completed(a, JSON.parse(text).details);
      sent.done = true;
      json(r, 200, shown(a));
    };
    const fault = this.completeFaults.shift();
    return fault ? fault(r, act) : act();
  }

  /** Has the provider asked, which moves nothing here unless `asked` does. */
  check(q, r, url) {
    const a = this.attempts.find((x) => x.payment_attempt_id === url.pathname.split("/")[3]);
    this.checks.push(a?.payment_attempt_id);
    const known = ["Bearer " + token, "Bearer customer"].includes(q.headers.authorization);
    if (!known || this.refusesChecks) return problem(r, 401, "unauthenticated");
    if (!a) return problem(r, 404, "not-found");
    this.asked?.(a);
    json(r, 200, shown(a));
  }

  async read(q, r, url) {
    const id = url.searchParams.get("payment_attempt_id") ?? url.pathname.split("/")[3];
    const a = this.attempts.find((x) => x.payment_attempt_id === id);
    const shop = url.pathname === "/shop/status";
    if (!shop && !["Bearer " + token, "Bearer customer"].includes(q.headers.authorization)) return problem(r, 401, "unauthenticated");
    if (!a) return problem(r, 404, "not-found");
    if (url.pathname.endsWith("/stream")) return this.stream ? this.streams(q, r, a) : problem(r, 404, "not-found");
    const same = () => q.headers["if-none-match"] === `"${a.version}"`;
    const wait = this.wait ? Number(/wait=(\d+)/.exec(q.headers.prefer ?? "")?.[1] ?? 0) : 0;
    if (wait && same() && a.status === "pending") {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, wait * 1000);
        a.listeners.add(() => (clearTimeout(timer), resolve()));
        r.on("close", () => (clearTimeout(timer), resolve()));
      });
    }
    if (same()) return void r.writeHead(304, { ETag: `"${a.version}"` }).end();
    json(r, 200, shown(a));
  }

  streams(q, r, a) {
    r.writeHead(200, { "Content-Type": "text/event-stream" });
    const tell = () => {
      r.write(`event: status\nid: ${a.version}\ndata: ${JSON.stringify(shown(a))}\n\n`);
      if (a.status !== "pending") r.end();
    };
    a.listeners.add(tell);
    r.on("close", () => a.listeners.delete(tell));
    tell();
  }

  /** How many requests of a kind arrived. */
  count(pattern) {
    return this.log.filter((line) => pattern.test(line)).length;
  }
}

function shown({ listeners, key, body, ...a }) {
  return a;
}

export function json(r, status, value, headers = {}) {
  r.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function problem(r, status, code, more = {}, headers = {}) {
  json(r, status, { type: "/problems/" + code, status, code, retryable: false, ...more }, headers);
}

// Faults.
export const before = (r) => r.destroy();
export const after = async (r, act) => {
  const write = r.writeHead;
  r.writeHead = () => (r.destroy(), { end: () => undefined });
  await act();
  r.writeHead = write;
};
export const status = (code, headers = {}) => (r) => r.writeHead(code, headers).end("<html>oops</html>");
export const busy = (ms) => (r) => problem(r, 503, "overloaded", { retryable: true, retry_after_ms: ms }, { "Retry-After": "1" });
export const hang = () => undefined;
