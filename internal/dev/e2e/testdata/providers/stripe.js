// Stands in for Stripe.js: the calls that the example makes, and buttons for what its customer does.
window.Stripe = (key) => {
  if (!key.startsWith("pk_")) throw new Error("no publishable key");
  const made = {};
  return {
    elements({ mode, amount, currency }) {
      if (mode !== "payment" || !Number.isInteger(amount) || currency !== currency.toLowerCase()) throw new Error("wrong elements");
      return Object.assign(made, {
        create: (type) => ({
          mount(at) {
            if (type !== "payment") throw new Error("no such element");
            document.querySelector(at).innerHTML = '<label>Card <input id="card" value="4242"></label>';
          },
        }),
        submit: async () => (document.getElementById("card").value ? {} : { error: { message: "Your card number is incomplete." } }),
      });
    },
    async createConfirmationToken({ elements }) {
      if (elements !== made) throw new Error("other elements");
      return { confirmationToken: { id: "ctoken_1" } };
    },
    async handleNextAction({ clientSecret }) {
      if (!clientSecret.includes("_secret_")) throw new Error("no client secret");
      const dialog = document.createElement("dialog");
      dialog.innerHTML = '<button id="approve">Approve</button> <button id="fail">Fail</button> <button id="cut">Cut the line</button>';
      document.body.append(dialog);
      dialog.showModal();
      const { id } = await new Promise((resolve) => dialog.addEventListener("click", ({ target }) => resolve(target)));
      dialog.remove();
      if (id === "cut") return { error: { type: "api_connection_error", message: "The line was cut." } };
      const paymentIntent = { id: clientSecret.split("_secret_")[0] };
      if (id === "approve") await fetch("/provider/approve", { method: "POST" });
      return id === "fail" ? { error: { type: "card_error", payment_intent: paymentIntent } } : { paymentIntent };
    },
  };
};
