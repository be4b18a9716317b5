// The hook, with React itself. A checkout of the repository has no React until `npm ci`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, fast, until } from "./page.js";
import { startServer } from "./server.js";

const React = await import("react").then((m) => m.default, () => null);
const { useCheckout } = React ? await import("paylatch/react") : {};
const skip = React ? false : "React is not installed: npm ci";
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

const loud = console.error;
console.error = (first, ...rest) => /react-test-renderer is deprecated/.test(first) || loud(first, ...rest);

/** A component that shows the phase, in strict mode: React shows it, takes it away and shows it again. */
async function shown(t, server, props = {}, browser = new Browser(t, server)) {
  const { default: renderer } = await import("react-test-renderer");
  const seen = [], renders = [], { checkout } = browser.open();
  checkout.close(); // its surroundings alone are wanted
  const environment = checkout.env;
  function Pay({ order = "A-1", ...options }) {
    const used = useCheckout({
      orderId: order, payUrl: server.url + "/shop/pay", completeUrl: server.url + "/shop/complete", apiUrl: server.url, timing: fast,
      environment, onStatus: (state) => seen.push(state.phase), ...options,
    });
    renders.push(used);
    return React.createElement("button", { "aria-disabled": !used.state.canPay }, order + " " + used.state.phase);
  }
  const element = (more) => React.createElement(React.StrictMode, null, React.createElement(Pay, { ...props, ...more }));
  let root;
  await React.act(async () => (root = renderer.create(element({}))));
  t.after(() => React.act(async () => root.unmount()));
  const page = {
    browser, seen, renders, used: () => renders.at(-1), text: () => root.toJSON().children.join(""),
    update: (more) => React.act(async () => root.update(element(more))),
    unmount: () => React.act(async () => root.unmount()),
    until: async (what, met) => {
      const end = Date.now() + 120_000;
      while (!met() && Date.now() < end) await React.act(() => new Promise((r) => setTimeout(r, 5)));
      assert.ok(met(), "waited in vain for " + what + ": " + page.text());
    },
  };
  return page;
}

test("a component pays, and shows each state", { skip }, async (t) => {
  const server = await startServer(t);
  const page = await shown(t, server);
  assert.equal(page.text(), "A-1 idle");
  const { pay } = page.used();
  let paid;
  await React.act(async () => void (paid = pay({ payment_method: { token: "tok_success" } })));
  await page.until("the attempt", () => page.text() === "A-1 checking");
  server.finish(server.attempts[0], "succeeded");
  await page.until("the end", () => page.text() === "A-1 succeeded");
  assert.equal((await paid).phase, "succeeded");
  assert.equal(page.used().pay, pay, "the functions stay the same");
  assert.equal(server.count(/^POST/), 1);
  assert.equal(server.attempts.length, 1);
});

test("nothing is rendered while nothing changes", { skip }, async (t) => {
  const server = await startServer(t);
  const page = await shown(t, server);
  const n = page.renders.length, { state } = page.used();
  await React.act(() => new Promise((r) => setTimeout(r, 50)));
  assert.equal(page.renders.length, n);
  await page.update({});
  assert.equal(page.used().state, state);
});

test("a component that is shown goes on with what is under way, and ends its work when it goes", { skip }, async (t) => {
  const server = await startServer(t);
  const first = await shown(t, server);
  await React.act(async () => void first.used().pay());
  await first.until("the attempt", () => server.attempts[0]?.listeners.size);
  await first.unmount();
  await until("the end of its work", () => server.attempts[0].listeners.size === 0 && first.browser.locks.held.size === 0);
  await assert.rejects(first.used().pay(), /not shown/);
  const second = await shown(t, server, {}, first.browser);
  await second.until("the attempt", () => second.text() === "A-1 checking");
  server.finish(server.attempts[0], "succeeded");
  await second.until("the end", () => second.text() === "A-1 succeeded");
  assert.equal(server.count(/^POST/), 1);
});

test("hooks are those of the latest render", { skip }, async (t) => {
  const server = await startServer(t);
  server.becomes = { stage: "awaiting_customer", next_action: { type: "sdk", data: { client_secret: "s" } } };
  const page = await shown(t, server, { onAction: () => { throw new Error("an old hook"); } });
  await page.update({ onAction: async (action) => ({ secret: action.data.client_secret }) });
  await React.act(async () => void page.used().pay());
  await page.until("the end", () => page.text() === "A-1 succeeded");
  assert.deepEqual(server.completes.map((c) => c.body), ['{"details":{"secret":"s"}}']);
});

test("another order is another checkout, and shows nothing of the first", { skip }, async (t) => {
  const server = await startServer(t);
  server.becomes = { status: "succeeded", stage: "final" };
  const page = await shown(t, server);
  await React.act(async () => void page.used().pay());
  await page.until("the end", () => page.text() === "A-1 succeeded");
  await page.update({ order: "A-2" });
  const other = page.renders.slice(page.renders.findLastIndex((r) => r.state.phase === "succeeded") + 1);
  assert.ok(other.length > 0 && other.every((r) => r.state.phase === "idle"));
  assert.equal(page.text(), "A-2 idle");
});

test("a server renders what is known of nothing yet", { skip }, async () => {
  const { renderToString } = await import("react-dom/server");
  const Pay = () => React.createElement("p", null, useCheckout({ orderId: "A-1", payUrl: "/pay" }).state.phase);
  assert.equal(renderToString(React.createElement(Pay)), "<p>idle</p>");
});
