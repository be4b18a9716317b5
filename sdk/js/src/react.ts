import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { createCheckout, idle, type Checkout, type Options, type Payment, type State } from "./index.js";

/** What `useCheckout` gives a component. The functions stay the same between renders. */
export interface UsedCheckout<Pay extends object = Payment> {
  state: State;
  /** As `Checkout.pay`. */
  pay: (payment?: Pay) => Promise<State>;
  /** As `Checkout.act`. */
  act: () => void;
}

/** One checkout at a time, which is made when the component is shown. */
class Slot<Pay extends object, Form extends object> {
  private checkout: Checkout<Pay> | null = null;
  private order: string | undefined;
  private latest: Options<Form> | null = null;
  private readonly listeners = new Set<() => void>();

  /** Functions are those of the latest render, all else is what the checkout was made with. */
  use(options: Options<Form>): void {
    this.latest = options;
  }

  open(options: Options<Form>): () => void {
    const now = new Proxy(options, {
      get: (made, name: keyof Options<Form>) => (typeof this.latest?.[name] === "function" ? this.latest[name] : made[name]),
    });
    const checkout = createCheckout<Pay, Form>(now);
    checkout.subscribe(this.tell);
    this.checkout = checkout;
    this.order = options.orderId;
    this.tell();
    this.watched(checkout, checkout.resume());
    return () => {
      checkout.close();
      this.checkout = null;
      this.tell();
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  private readonly tell = (): void => {
    for (const listener of [...this.listeners]) listener();
  };

  /** Another order's state is never shown. */
  state(order: string): State {
    return this.checkout && this.order === order ? this.checkout.getSnapshot() : idle;
  }

  readonly pay = (payment?: Pay): Promise<State> => {
    if (!this.checkout) return Promise.reject(new Error("paylatch: the component is not shown"));
    return this.watched(this.checkout, this.checkout.pay(payment));
  };

  /** A component that goes away ends the work, which is no error that a page must handle. What `mount` throws is reported. */
  private watched(checkout: Checkout<Pay>, work: Promise<State>): Promise<State> {
    work.catch((error) => {
      if (this.checkout === checkout && !this.latest?.signal?.aborted) (globalThis.reportError ?? console.error)(error);
    });
    return work;
  }

  readonly act = (): void => this.checkout?.act();
}

/**
 * One order's payment, for a component: it goes on with what is under way when the component is shown, and ends its work when that goes. The
 * options may be made anew in each render; another `orderId` or address is another checkout.
 */
export function useCheckout<Pay extends object = Payment, Form extends object = object>(options: Options<Form>): UsedCheckout<Pay> {
  const [slot] = useState(() => new Slot<Pay, Form>());
  const { orderId, payUrl, statusUrl, completeUrl, apiUrl } = options;
  useEffect(() => slot.use(options));
  useEffect(() => slot.open(options), [slot, orderId, payUrl, statusUrl, completeUrl, apiUrl]);
  const state = useSyncExternalStore(slot.subscribe, useCallback(() => slot.state(orderId), [slot, orderId]), () => idle);
  return { state, pay: slot.pay, act: slot.act };
}
