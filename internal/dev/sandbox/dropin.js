// The sandbox provider's drop-in: its own form on a shop's page, as real providers' scripts have one.
//
//   <script src="http://127.0.0.1:9090/v1/dropin.js" defer></script>
//   const form = PaylatchSandbox.dropin(element, { clientSecret, returnUrl, onDone, onError });
//
// clientSecret   of the charge that the shop's backend has created with the token tok_dropin
// returnUrl      where the hosted page sends the customer back to
// onDone(charge) the customer has nothing left to do here. What the charge's status says is for the customer alone: the shop
//                learns from its backend whether it was paid
// onError(error) {code, message}; the form stays, and a press tries again. One charge is confirmed once, however often
// form.unmount() takes the form away; what is under way goes on
//
// It runs under a content security policy that has the provider's origin in script-src and connect-src, and nothing inline. The look is the page's.
(() => {
  const provider = new URL(document.currentScript.src).origin;
  const patience = 15_000; // milliseconds for one call

  const methods = [
    ["tok_success", "Takes the money at once"],
    ["tok_async_success", "Takes the money after a moment"],
    ["tok_redirect", "Asks you to confirm on the provider's page"],
    ["tok_decline", "Declines the card"],
    ["tok_async_decline", "Declines the card after a moment"],
    ["tok_never", "Never decides"],
    ["tok_hang_charged", "Takes the money and does not answer"],
    ["tok_500_charged", "Takes the money and answers with an error"],
    ["tok_500_once", "Answers the first call with an error, and takes the money at the second"],
    ["tok_twice", "Tells the shop three times"],
    ["tok_late_success", "Declines, and takes the money a second later"],
  ];

  const texts = {
    pending: "The payment is on its way.", authorized: "The payment was approved.", succeeded: "The payment was approved.",
    failed: "The payment was declined.", canceled: "This payment was cancelled.",
  };

  function create(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  /** By the style, too: the attribute alone gives way to a page's own styles. */
  function showIf(on, element) {
    element.hidden = !on;
    element.style.display = on ? "" : "none";
  }

  function money({ amount, currency }) {
    const digits = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
    return (amount / 10 ** digits).toFixed(digits) + " " + currency;
  }

  function dropin(element, { clientSecret, returnUrl, onDone, onError }) {
    const gone = new AbortController();
    const address = provider + "/v1/dropin/charges/" + clientSecret.split("_secret_")[0];
    const method = create("select", { name: "token" }, ...methods.map(([value, text]) => create("option", { value }, text)));
    const button = create("button", { type: "submit" }, "Pay");
    const fields = create("div", {}, create("label", {}, "How the provider behaves", method), button);
    const link = create("a", {}, "Continue on the provider's page");
    link.setAttribute("role", "button");
    const said = create("p", {}, "One moment…");
    said.setAttribute("role", "status");
    said.tabIndex = -1;
    const form = create("form", { className: "paylatch-sandbox" }, fields, link, said);
    let busy = false;

    async function call(path, body) {
      const headers = { Authorization: "Bearer " + clientSecret };
      if (body) headers["Content-Type"] = "application/json";
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(patience)]);
      const response = await fetch(address + path, {
        method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), credentials: "omit", signal,
      });
      const answer = await response.json();
      if (!response.ok) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
      return answer;
    }

    function show(charge) {
      const open = charge.status === "pending" && !charge.confirmed, { next_action: action } = charge;
      const hadFocus = fields.contains(document.activeElement);
      showIf(open, fields);
      showIf(action, link);
      button.textContent = "Pay " + money(charge);
      if (action) link.href = action.url;
      said.textContent = open ? "" : action ? "The provider asks you on its own page." : charge.failure_message ?? texts[charge.status];
      if (hadFocus && !open) (action ? link : said).focus();
      if (!open && !action) onDone?.({ id: charge.id, status: charge.status });
    }

    /** Makes one call at a time, and shows what it found. */
    async function turn(path, body) {
      if (busy) return null;
      busy = true;
      button.setAttribute("aria-disabled", "true"); // disabled would lose the focus
      try {
        const charge = await call(path, body);
        show(charge);
        return charge;
      } catch (error) {
        if (gone.signal.aborted) return null;
        const message = error.code ? error.message : "The provider does not answer.";
        said.textContent = message + " Press Pay again. You are not charged twice.";
        showIf(true, fields);
        onError?.({ code: error.code ?? "no_answer", message });
        return null;
      } finally {
        busy = false;
        button.removeAttribute("aria-disabled");
      }
    }

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (busy) return;
      said.textContent = "Sending…";
      const charge = await turn("/confirm", { token: method.value, return_url: returnUrl ?? "" });
      if (charge?.next_action) location.assign(charge.next_action.url);
    });
    showIf(false, fields);
    showIf(false, link);
    element.replaceChildren(form);
    void turn("");

    return {
      unmount() {
        gone.abort();
        form.remove();
      },
    };
  }

  /**
   * Has the customer pass the challenge of a charge (tok_3ds_sdk): takes the data of its next action, and resolves to the details
   * that complete it.
   */
  function challenge({ client_secret: clientSecret }) {
    const address = provider + "/v1/dropin/charges/" + clientSecret.split("_secret_")[0] + "/challenge";
    const said = create("p", {}, "Is it you who pays?");
    said.setAttribute("role", "status");
    const buttons = [["Approve", true], ["Decline", false]].map(([text, approve]) => create("button", { type: "button", value: approve }, text));
    const dialog = create("dialog", { className: "paylatch-sandbox" }, said, ...buttons);
    dialog.setAttribute("aria-label", "Sandbox challenge");
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
    return new Promise((done) => {
      async function decide(event) {
        try {
          const response = await fetch(address, {
            method: "POST", credentials: "omit", signal: AbortSignal.timeout(patience),
            headers: { Authorization: "Bearer " + clientSecret, "Content-Type": "application/json" },
            body: JSON.stringify({ approve: event.target.value === "true" }),
          });
          if (!response.ok) throw new Error("refused");
          const { result } = await response.json();
          dialog.remove();
          done({ result });
        } catch {
          said.textContent = "The provider does not answer. Press again.";
        }
      }
      for (const button of buttons) button.addEventListener("click", decide);
    });
  }

  window.PaylatchSandbox = Object.freeze({ dropin, challenge });
})();
