import { type Options, type Payment, type State } from "./index.js";
/** What `useCheckout` gives a component. The functions stay the same between renders. */
export interface UsedCheckout<Pay extends object = Payment> {
    state: State;
    /** As `Checkout.pay`. */
    pay: (payment?: Pay) => Promise<State>;
    /** As `Checkout.act`. */
    act: () => void;
}
/**
 * One order's payment, for a component: it goes on with what is under way when the component is shown, and ends its work when that goes. The
 * options may be made anew in each render; another `orderId` or address is another checkout.
 */
export declare function useCheckout<Pay extends object = Payment, Form extends object = object>(options: Options<Form>): UsedCheckout<Pay>;
