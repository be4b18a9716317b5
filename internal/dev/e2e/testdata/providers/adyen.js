// Stands in for Adyen's script: the calls that the example makes, and buttons for what its customer does.
window.AdyenWeb = {
  async AdyenCheckout({ clientKey, environment, countryCode, amount, paymentMethodsResponse, onSubmit, onAdditionalDetails }) {
    if (!clientKey.startsWith("test_") || environment !== "test" || countryCode !== "DE" || !(amount.value > 0)) throw new Error("wrong settings");
    if (!paymentMethodsResponse.paymentMethods) throw new Error("no payment methods");
    return {
      onSubmit,
      createFromAction(action) {
        if (!["threeDS2", "voucher"].includes(action.type)) throw new Error("no such action");
        let place;
        const component = {
          mount(at) {
            place = document.querySelector(at);
            place.innerHTML = `${action.reference ?? `<button id="done">${action.subtype}</button>`}`;
            if (action.type === "voucher") return component; // nothing comes of it
            const data = { details: { threeDSResult: action.subtype }, paymentData: action.paymentData };
            place.querySelector("#done").addEventListener("click", () => onAdditionalDetails({ data }, component, {}));
            return component;
          },
          unmount: () => (place.innerHTML = ""),
        };
        return component;
      },
    };
  },
  Dropin: class {
    constructor(checkout) {
      this.checkout = checkout;
    }

    mount(at) {
      const place = document.querySelector(at);
      place.innerHTML = '<button id="dropin-pay">Pay 19.99 EUR</button>';
      const data = { paymentMethod: { type: "scheme", encryptedCardNumber: "enc" }, browserInfo: { userAgent: navigator.userAgent, colorDepth: 24, language: "de" } };
      place.querySelector("#dropin-pay").addEventListener("click", () => this.checkout.onSubmit({ data, isValid: true }, this, {}));
      return this;
    }
  },
};
