import { createCheckout } from "/sdk/paylatch.js";

const by = (id) => document.getElementById(id);
const checkout = by("checkout"), form = by("pay-form"), pay = by("pay"), method = by("method"), status = by("status");
// Only the checkout with the provider's own form has these.
const provider = by("provider"), giveUp = by("give-up");
const { order, live, label } = checkout.dataset;
const here = "/demo/orders/" + encodeURIComponent(order);
const texts = Object.fromEntries([...document.querySelectorAll("[data-says]")].map((e) => [e.dataset.says, e.textContent]));

// A network that can be lost: a pay still leaves the page, but its answer never comes back.
let lost = false;
const network = async (url, request) => {
  if (!lost) return fetch(url, request);
  if (request.method === "POST") await fetch(url, request).catch(() => undefined);
  throw new TypeError("the network is lost");
};

// Whether the provider's script has reported that the customer is done. What came of it, paylatch knows.
let entered = false;

const payment = createCheckout({
  orderId: order,
  payUrl: here + (provider ? "/form" : "/pay"),
  statusUrl: here + "/status",
  completeUrl: here + "/complete",
  onStatus: show,
  environment: { fetch: network },
  onAction: act,
  returned: () => {
    const result = new URLSearchParams(location.search).get("sandbox_result");
    return result && { sandbox_result: result };
  },
  ...(live && { attempt: live }),
  ...(provider && { mount }),
});

/** The provider's window asks for the proof; a voucher is shown. All else the client does by itself. */
function act({ type, data }) {
  if (type === "sdk") return PaylatchSandbox.challenge(data);
  return type === "display" ? true : undefined;
}

function mount({ client_secret: clientSecret }) {
  entered = false;
  const done = (is) => () => {
    entered = is;
    show(payment.state);
  };
  const { unmount } = PaylatchSandbox.dropin(provider, { clientSecret, returnUrl: location.href, onDone: done(true), onError: done(false) });
  return unmount;
}

function show(state) {
  const { phase, canPay, attempt } = state;
  const busy = phase === "sending" || phase === "checking";
  checkout.dataset.phase = phase;
  const over = ["succeeded", "arrived", "cancelled"].includes(phase) || (phase === "failed" && !canPay);
  const hadFocus = form.contains(document.activeElement) || provider?.contains(document.activeElement);
  form.hidden = over || phase === "action" || phase === "form";
  if (method) method.disabled = !canPay;
  if (provider) showProvider(state);
  // A button that were disabled would lose the focus.
  pay.setAttribute("aria-disabled", String(!canPay));
  pay.setAttribute("aria-busy", String(busy));
  pay.textContent = busy ? texts[phase] : phase === "unknown" ? "Check again" : phase === "failed" ? label + " again" : label;
  showAction(phase === "action" ? attempt.next_action : null, state.canAct);
  const text = say(state);
  if (status.textContent !== text) status.textContent = text;
  status.className = "status " + phase;
  status.classList.toggle("aloud", !form.hidden && text === pay.textContent);
  if (hadFocus && !document.activeElement.checkVisibility()) place(phase).focus();
  by("receipt").hidden = phase !== "succeeded";
  void showProof();
}

/** Where the customer goes on: a page, a voucher, or the provider's window, which the button opens again. */
function showAction(action, canAct) {
  const voucher = action?.type === "display" ? action.data : null;
  const to = voucher?.url ?? action?.url;
  by("voucher").hidden = !voucher;
  by("instructions").textContent = voucher?.instructions ?? "";
  by("reference").textContent = voucher?.reference ?? "";
  by("action").hidden = !action || (!to && !canAct);
  if (to) by("continue").href = to;
  else by("continue").removeAttribute("href");
}

/** Where the focus goes when what had it is gone. */
function place(phase) {
  if (phase === "action") return by("continue");
  return phase === "form" && !provider.hidden ? provider : status;
}

/** Whether the payment's form is on another device's page, or on one that this browser has forgotten. */
const begunElsewhere = ({ phase, attempt, elsewhere }) =>
  phase === "checking" && !elsewhere && attempt?.origin === "external" && attempt.stage === "awaiting_customer";

function showProvider(state) {
  const { phase, canPay, elsewhere } = state;
  provider.hidden = phase !== "form" || elsewhere || entered;
  giveUp.hidden = !(begunElsewhere(state) || phase === "action" || phase === "form");
  by("here").hidden = !begunElsewhere(state);
  document.querySelector(".other-way").hidden = !canPay;
}

function say(state) {
  const { phase, canPay, attempt, problem, offline, elsewhere } = state;
  const voucher = phase === "action" && attempt.next_action.type === "display";
  const parts = [texts[voucher ? "voucher" : phase === "form" && entered ? "checking" : phase]];
  if (phase === "failed" && attempt?.failure) parts.push(attempt.failure.message);
  if (phase === "failed" && !canPay) parts.push("This order can't be paid again at the moment.");
  if ((phase === "checking" && problem?.code === "payment-in-progress") || begunElsewhere(state)) parts.push("It was begun on another page or device.");
  if (elsewhere) parts.push(phase === "form" ? "It is open in another tab." : "Another tab is at it.");
  if (offline) parts.push("The network is gone; we go on when it is back. You need not press again.");
  return parts.join(" ");
}

// How often the customer has pressed, on this order in this tab. All other numbers come from the shop and the provider.
const memory = (name) => ({
  get: () => { try { return JSON.parse(sessionStorage.getItem(name + ":" + order)); } catch { return null; } },
  set: (value) => { try { sessionStorage.setItem(name + ":" + order, JSON.stringify(value)); } catch { /* this page alone remembers it */ } },
});
const kept = memory("presses"), pastResults = memory("past");
let presses = kept.get() ?? 0;

function pressed() {
  kept.set(++presses);
  showPresses();
  for (const pause of [200, 1000]) setTimeout(() => void showProof(), pause);
}

function showPresses() {
  by("pressed").hidden = false;
  by("presses").textContent = String(presses);
}

let asking = false, again = false;

/** Puts what has changed of the proof into the page. While one is asked for, another waits. */
async function showProof() {
  again = asking;
  if (asking) return;
  asking = true;
  const response = await fetch(here + "/charges").catch(() => null);
  const parts = response?.ok && new DOMParser().parseFromString(await response.text(), "text/html");
  for (const id of parts ? ["requests", "charged", "charges", "course", "support"] : []) {
    const fresh = parts.getElementById(id), shown = by(id);
    if (fresh && fresh.innerHTML !== shown.innerHTML) shown.replaceChildren(...fresh.childNodes);
    if (fresh) shown.hidden = fresh.hidden;
  }
  asking = false;
  if (again) void showProof();
}

// The same request past the client: two copies under one key, and one under another.
const random = () => [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");

async function past() {
  const key = "past:" + random(), other = "past:" + random();
  const send = async (what, key) => {
    try {
      const response = await fetch(here + "/pay", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": key },
        body: JSON.stringify({ payment_method: { token: method.value } }),
      });
      const { code } = await response.json().catch(() => ({}));
      return `${what}: ${response.status} ${code ?? response.headers.get("Idempotency-Result") ?? ""}`;
    } catch {
      return what + ": no answer";
    }
  };
  pastResults.set(await Promise.all([send("One key", key), send("The same key", key), send("Another key", other)]));
  location.reload(); // the client follows what was begun without it
}

function showPast() {
  const results = pastResults.get(), list = by("past-results");
  if (!results || !list) return;
  list.replaceChildren(...results.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  list.hidden = false;
}

by("continue").addEventListener("click", (event) => {
  if (event.currentTarget.hasAttribute("href")) return;
  event.preventDefault();
  void payment.act();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void payment.pay(method ? { payment_method: { token: method.value } } : {});
});
by("twice").addEventListener("click", () => {
  const button = form.hidden ? provider?.querySelector("button") : pay;
  if (!button?.checkVisibility()) return;
  button.click();
  button.click();
});
by("lose").addEventListener("click", ({ currentTarget: button }) => {
  lost = !lost;
  button.setAttribute("aria-pressed", String(lost));
  if (!lost) window.dispatchEvent(new Event("online"));
});

document.addEventListener("click", ({ target }) => {
  if (target === pay || provider?.contains(target.closest("button"))) pressed();
}, true);
by("past")?.addEventListener("click", ({ currentTarget: button }) => {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  void past();
});

by("tricks").hidden = false;
showPresses();
showPast();
void payment.resume();
