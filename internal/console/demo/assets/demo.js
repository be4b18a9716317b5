import { createCheckout } from "/sdk/paylatch.js";

const by = (id) => document.getElementById(id);
const checkout = by("checkout"), form = by("pay-form"), pay = by("pay"), method = by("method"), status = by("status");
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

const payment = createCheckout({
  orderId: order,
  payUrl: here + "/pay",
  statusUrl: here + "/status",
  onStatus: show,
  environment: { fetch: network },
  ...(live && { attempt: live }),
});

function show(state) {
  const { phase, canPay, attempt } = state;
  const busy = phase === "sending" || phase === "checking";
  checkout.dataset.phase = phase;
  const over = ["succeeded", "arrived", "cancelled"].includes(phase) || (phase === "failed" && !canPay);
  const hadFocus = form.contains(document.activeElement);
  form.hidden = over || phase === "action";
  method.disabled = !canPay;
  // A button that were disabled would lose the focus.
  pay.setAttribute("aria-disabled", String(!canPay));
  pay.setAttribute("aria-busy", String(busy));
  pay.textContent = busy ? texts[phase] : phase === "unknown" ? "Check again" : phase === "failed" ? label + " again" : label;
  by("action").hidden = phase !== "action";
  if (phase === "action") by("continue").href = attempt.next_action.url;
  const text = say(state);
  if (status.textContent !== text) status.textContent = text;
  status.className = "status " + phase;
  status.classList.toggle("aloud", !form.hidden && text === pay.textContent);
  if (form.hidden && hadFocus) (phase === "action" ? by("continue") : status).focus();
  if (!busy) void showCharges();
}

function say({ phase, canPay, attempt, problem, offline, elsewhere }) {
  const parts = [texts[phase]];
  if (phase === "failed" && attempt?.failure) parts.push(attempt.failure.message);
  if (phase === "failed" && !canPay) parts.push("This order can't be paid again at the moment.");
  if (phase === "checking" && problem?.code === "payment-in-progress") parts.push("It was begun on another page or device.");
  if (elsewhere) parts.push("Another tab is at it.");
  if (offline) parts.push("The network is gone; we go on when it is back. You need not press again.");
  return parts.join(" ");
}

async function showCharges() {
  const response = await fetch(here + "/charges").catch(() => null);
  if (!response?.ok) return;
  const list = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("charges");
  if (list && list.textContent !== by("charges").textContent) by("charges").replaceChildren(...list.children);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void payment.pay({ payment_method: { token: method.value } });
});
by("twice").addEventListener("click", () => {
  if (form.hidden) return;
  pay.click();
  pay.click();
});
by("lose").addEventListener("click", ({ currentTarget: button }) => {
  lost = !lost;
  button.setAttribute("aria-pressed", String(lost));
  if (!lost) window.dispatchEvent(new Event("online"));
});

by("tricks").hidden = false;
void payment.resume();
