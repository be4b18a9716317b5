// Stands in for PayPal's script: the calls that the example makes, and buttons for what its customer does.
window.paypal = {
  Buttons({ createOrder, onApprove, onError }) {
    const open = async () => {
      try {
        const orderID = await createOrder();
        if (!/^[0-9A-Z]{17}$/.test(orderID)) throw new Error("no order of PayPal's: " + orderID);
        const dialog = document.createElement("dialog");
        dialog.innerHTML = '<button id="approve">Pay now</button> <button id="close">Close</button>';
        document.body.append(dialog);
        dialog.showModal();
        dialog.querySelector("#approve").addEventListener("click", async () => {
          await fetch("/provider/approve", { method: "POST" });
          dialog.remove();
          await onApprove({ orderID }, { restart: open });
        });
        dialog.querySelector("#close").addEventListener("click", () => dialog.remove());
      } catch (error) {
        onError(error);
      }
    };
    return {
      render(at) {
        document.querySelector(at).innerHTML = '<button id="paypal">PayPal</button>';
        document.getElementById("paypal").addEventListener("click", open);
      },
    };
  },
};
