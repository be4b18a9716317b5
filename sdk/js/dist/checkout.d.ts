import type { Payment, State } from "./types.js";
/** What a page shows before anything is known. */
export declare const idle: State;
/** One order's payment, as this page sees it. Made by `createCheckout`. `Pay` is the type of what is paid with. */
export declare class Checkout<Pay extends object = Payment> {
    private readonly options;
    private readonly env;
    private readonly timing;
    private readonly records;
    private readonly tabs;
    private readonly form;
    private readonly steps;
    private readonly listeners;
    private current;
    private running;
    private pressed;
    /** Whether the button said "Check again" when the work began. */
    private looking;
    /** The key of the payment whose end this page has shown. */
    private shown;
    private theirs;
    private stretch;
    /** Is aborted when the page no longer looks on at an attempt that failed. */
    private watching;
    /** Is set while the page is in the back/forward cache. */
    private away;
    private closed;
    /** Whether a payment is being worked on here: the only thing for other tabs to join. */
    private working;
    /** Where the payment stands. */
    get state(): State;
    /**
     * The press of the button. Pressed again, in this or another tab, it joins what is under way. It resolves when the payment is final or
     * the looking has ended, and rejects only if it was aborted.
     */
    pay(payment?: Pay): Promise<State>;
    /** Where the payment stands: the same object until something changes. */
    readonly getSnapshot: () => State;
    /** Has a listener called with each change. Returns what ends that. */
    readonly subscribe: (listener: () => void) => (() => void);
    /** Does again what the attempt waits for, while `canAct` says so: for a button "Continue". */
    act(): void;
    /** Goes on with a payment that was begun before: call it when the page is shown. It begins none. */
    resume(): Promise<State>;
    /** Ends all work of this page; the payment itself goes on. */
    close(): void;
    private run;
    /** Looks on after a failure, for as long as the page stays open: money may still arrive, and be given back. */
    private watch;
    private lookOn;
    /** A page that is left and comes back goes on where it was. */
    private untilDone;
    /** The looking ends at some time. Other tabs hear of that, too, so that they don't begin it anew. */
    private bounded;
    /**
     * Does the work, with every other tab waiting. A press to pay that had to wait for another tab's payment has joined it, unless its end was
     * shown here before; one of "Check again" is for what is under way, and begins nothing else.
     */
    private settle;
    /** Follows an attempt to its end. After a failure it goes on with the one that the page's server knows to be live. */
    private follow;
    /**
     * Forgets an attempt of which nobody will tell any more: its own token was all there was, and has expired, or is refused or was never there
     * and somebody has asked for it again. As after a failure the order judges the next press: it takes none beside an attempt that is pending,
     * authorised or has succeeded.
     */
    private outlived;
    /** Gives up the key: nothing that is kept with it is needed any more. */
    private forget;
    /** What the page's server knows counts where storage knows of nothing that is under way or has succeeded. */
    private adopt;
    /** Sends the pay. It returns null if there is no attempt to follow. */
    private begin;
    /**
     * The key belongs to a body that is not kept here: another tab's without locks, or one that storage has lost. So something was begun, and
     * the key says no more of it. If storage doesn't either by now, a press to pay is sent once more, under a key of its own. That can't charge
     * twice, because the order judges it: while an attempt is pending or authorised it answers with that one, once one has succeeded or holds
     * money it is paid, and after a failure that nobody has shown, what was pressed is charged alone. A look begins nothing: it stays
     * in doubt. "Check again" gives up the key, and the press after that is the order's to judge.
     */
    private taken;
    /**
     * What became of a press can't be found out by its key. The attempt that the page's server knows may be it, so that one is looked at first.
     * If it has failed, the key that is kept still has its say.
     */
    private doubt;
    /**
     * Reports whether there is an attempt to follow. What the order says of itself is true, whoever paid it. No refusal proves that nothing was
     * begun where the press was sent once before, under another key.
     */
    private sent;
    /** Reports whether a refusal proves that nothing was begun. It does so for its own body, if no try of that was lost or paylatch refuses it. */
    private refused;
    private end;
    /** Whether a failed payment may be tried again is asked anew each time. */
    private showEnd;
    private readonly show;
    private set;
    private tell;
    /** Shows what another tab does and stands by in case that one is closed. */
    private mirror;
    private readonly leave;
    private readonly comeBack;
}
