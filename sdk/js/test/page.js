// Pages of one browser: a storage, locks and channels that they share, and events of their own.
import { createCheckout } from "../dist/paylatch.js";

export const fast = {
  backoff: 10, backoffCap: 40, requestTimeout: 20_000, wait: 10_000, firstEvent: 10_000, silence: 10_000, giveUp: 40_000, resendWithin: 60_000, late: 60_000, lateCap: 60_000,
};

export class Browser {
  storage = new Map();
  locks = new Locks();
  channels = new Set();
  pages = [];

  constructor(t, server) {
    this.server = server;
    t.after(() => this.pages.forEach((p) => p.checkout.close()));
  }

  open(options = {}, environment = {}) {
    const page = { states: [], events: new EventTarget(), redirects: [], forms: [], reports: [] };
    page.checkout = createCheckout({
      orderId: "A-1", payUrl: this.server.url + "/shop/pay", apiUrl: this.server.url,
      onStatus: (state) => page.states.push(state), redirect: (url) => page.redirects.push(url),
      ...options,
      timing: { ...fast, ...options.timing },
      environment: {
        storage: {
          getItem: (k) => this.storage.get(k) ?? null,
          setItem: (k, v) => void this.storage.set(k, v),
          removeItem: (k) => void this.storage.delete(k),
        },
        locks: this.locks, channel: (name) => new Channel(this.channels, name), events: page.events,
        submit: (url, fields) => page.forms.push({ url, fields }), report: (error) => page.reports.push(error), ...environment,
      },
    });
    page.pay = (what = "tok_success") => page.checkout.pay({ payment_method: { token: what } });
    page.phases = () => page.states.map((s) => s.phase).filter((p, i, all) => p !== all[i - 1]);
    page.leave = () => page.events.dispatchEvent(new Event("pagehide"));
    page.back = () => page.events.dispatchEvent(new Event("pageshow"));
    this.pages.push(page);
    return page;
  }

  /** Ends a page as a crash does: it says nothing to anybody. */
  crash(page) {
    page.checkout.close();
  }

  kept() {
    const text = this.storage.get("paylatch:A-1");
    return text ? JSON.parse(text) : null;
  }
}

class Channel {
  onmessage = null;

  constructor(all, name) {
    Object.assign(this, { all, name });
    all.add(this);
  }

  postMessage(data) {
    const copy = structuredClone(data);
    for (const other of this.all) {
      if (other !== this && other.name === this.name) setImmediate(() => this.all.has(other) && other.onmessage?.({ data: copy }));
    }
  }

  close() {
    this.all.delete(this);
  }
}

/** The part of the Web Locks API that is used. */
class Locks {
  held = new Map();

  async request(name, { ifAvailable = false, signal }, run) {
    if (ifAvailable && this.held.has(name)) return run(null);
    while (this.held.has(name)) {
      signal?.throwIfAborted();
      await Promise.race([this.held.get(name), new Promise((_, no) => signal?.addEventListener("abort", () => no(signal.reason)))]);
    }
    let free;
    this.held.set(name, new Promise((resolve) => (free = resolve)));
    try {
      return await run({ name });
    } finally {
      this.held.delete(name);
      free();
    }
  }
}

export async function until(what, met, limit = 120_000) {
  for (const end = Date.now() + limit; !met(); await new Promise((r) => setTimeout(r, 2))) {
    if (Date.now() > end) throw new Error("waited in vain for " + what);
  }
}
