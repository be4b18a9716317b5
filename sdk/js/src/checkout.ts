import { defaultTiming, environmentOf } from "./environment.js";
import { Follower } from "./follow.js";
import { Form } from "./form.js";
import { pause, TimeUp } from "./pause.js";
import { ageOf, newIntent, Records, type Intent } from "./record.js";
import { send, taken, type Sent } from "./send.js";
import { Steps } from "./steps.js";
import { Tabs } from "./tabs.js";
import type { Attempt, Environment, Options, Payment, Problem, State, Timing } from "./types.js";
import { payAt, Refused, type Work } from "./work.js";

/** What a page shows before anything is known. */
export const idle: State = { phase: "idle", canPay: true, canAct: false, offline: false, elsewhere: false, attempt: null, problem: null };

/**
 * The codes by which paylatch refuses a pay's own body: the same body would have been refused the first time, too. `malformed-request` and
 * `unsupported-media-type` are not among them: they may be about headers and the address, which the shop's backend may send otherwise each time.
 */
const bodyRefused = ["body-too-large", "validation-failed", "card-number-refused"];

/** Whether paylatch itself has refused the body. What stands before it may refuse the same request once and not another time. */
function refusesBody({ type, code, errors }: Problem): boolean {
  if (!bodyRefused.includes(code) || type !== "/problems/" + code) return false;
  return !Array.isArray(errors) || !errors.some((e) => e?.field === "On-Behalf-Of");
}

/** Whether an intent was pressed and is not known to have ended. */
function underWay(intent: Intent | null): intent is Intent {
  return !!intent && !intent.end && (!!intent.attempt || intent.bodies.length > 0);
}

/**
 * How many bodies are kept with a key. A press that is pushed out may have been the one that arrived; then the key is taken for all the
 * others, and the order judges.
 */
const mostBodies = 8;

/** How long a status token reads its attempt, in milliseconds. */
const tokenLife = 24 * 60 * 60_000;

/** Why work was broken off when the page was left: it goes on if the page comes back. */
const left = new Error("the page was left");

/** Whether somebody is still at work on what this state shows. */
function busy({ phase }: State): boolean {
  return ["sending", "checking", "form", "action"].includes(phase);
}

/** Whether a failed attempt holds money that came late and that nobody gave back. */
const arrived = (a: Attempt | null) => a?.status === "failed" && a.amount_captured > a.amount_refunded;

/** One order's payment, as this page sees it. Made by `createCheckout`. `Pay` is the type of what is paid with. */
export class Checkout<Pay extends object = Payment> {
  private readonly env: Environment;
  private readonly timing: Timing;
  private readonly records: Records;
  private readonly tabs: Tabs;
  private readonly form: Form;
  private readonly steps: Steps;
  private readonly listeners = new Set<() => void>();
  private current: State = idle;
  private running: Promise<State> | null = null;
  private pressed = false;
  /** Whether the button said "Check again" when the work began. */
  private looking = false;
  /** The key of the payment whose end this page has shown. */
  private shown: string | undefined;
  private theirs: string | undefined;
  private stretch = new AbortController();
  /** Is aborted when the page no longer looks on at an attempt that failed. */
  private watching = new AbortController();
  /** Is set while the page is in the back/forward cache. */
  private away: { back: Promise<void>; come: () => void } | null = null;
  private closed = false;
  /** Whether a payment is being worked on here: the only thing for other tabs to join. */
  private working = false;

  /** @internal */
  constructor(private readonly options: Options) {
    if (!options.payUrl && !options.authorization) throw new TypeError("paylatch: give payUrl or authorization");
    const name = "paylatch:" + options.orderId;
    this.env = environmentOf(options);
    this.timing = { ...defaultTiming, ...options.timing };
    this.theirs = options.attempt;
    this.records = new Records(this.env, name);
    this.form = new Form(options);
    this.steps = new Steps(options, {
      state: () => this.current, set: (change) => this.set(change), show: this.show, load: () => this.records.load(),
      save: (intent) => this.records.isOf(intent) && this.records.save(intent), resume: () => void this.resume().catch(() => undefined),
      report: this.env.report, submit: this.env.submit,
    });
    this.tabs = new Tabs(this.env, name, this.timing.otherTab, (state) => this.mirror(state), () => this.tell());
    this.env.events?.addEventListener("pagehide", this.leave);
    this.env.events?.addEventListener("pageshow", this.comeBack);
    options.signal?.addEventListener("abort", () => this.close());
    if (options.signal?.aborted) this.close();
  }

  /** Where the payment stands. */
  get state(): State {
    return this.current;
  }

  /**
   * The press of the button. Pressed again, in this or another tab, it joins what is under way. It resolves when the payment is final or
   * the looking has ended, and rejects only if it was aborted.
   */
  pay(payment?: Pay): Promise<State> {
    const before = this.running;
    if (!before || this.pressed) return this.run(JSON.stringify(payment ?? {}));
    // A look at what storage knows is under way. If that finds nothing, this is the first press.
    return before.then((state) => (state.phase === "idle" ? this.pay(payment) : state));
  }

  /** Where the payment stands: the same object until something changes. */
  readonly getSnapshot = (): State => this.current;

  /** Has a listener called with each change. Returns what ends that. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** Does again what the attempt waits for, while `canAct` says so: for a button "Continue". */
  act(): void {
    this.steps.again();
  }

  /** Goes on with a payment that was begun before: call it when the page is shown. It begins none. */
  resume(): Promise<State> {
    return this.run(null);
  }

  /** Ends all work of this page; the payment itself goes on. */
  close(): void {
    this.closed = true;
    this.env.events?.removeEventListener("pagehide", this.leave);
    this.env.events?.removeEventListener("pageshow", this.comeBack);
    this.tabs.shut();
    this.form.takeAway();
    this.steps.over();
    this.away?.come();
    this.stretch.abort();
    this.watching.abort();
  }

  private run(body: string | null): Promise<State> {
    if (this.running) return this.running;
    this.watching.abort();
    this.pressed = body !== null;
    this.looking = this.current.phase === "unknown";
    this.running = this.untilDone(body).finally(() => {
      this.running = null;
      this.pressed = false;
      this.watch();
    });
    return this.running;
  }

  /** Looks on after a failure, for as long as the page stays open: money may still arrive, and be given back. */
  private watch(): void {
    this.watching.abort();
    const intent = this.records.load(), { phase, attempt } = this.current;
    const over = (phase === "failed" || phase === "arrived") && intent?.end === "failed" && intent.attempt === attempt?.payment_attempt_id;
    if (!over || this.closed || this.away || this.running) return;
    this.watching = new AbortController();
    this.lookOn(intent, this.watching.signal).catch(() => undefined); // nobody tells any more, or the page does something else
  }

  private async lookOn(intent: Intent, signal: AbortSignal): Promise<void> {
    const { options, env, timing } = this;
    for (let n = 0; ; n++) {
      const ms = Math.min(timing.lateCap, timing.late * 2 ** Math.min(n, 20));
      await pause(ms * (1 + env.random() / 4), Infinity, signal, env);
      const work: Work = { options, env, timing, signal, until: Date.now() + timing.requestTimeout };
      const attempt = await new Follower(work, intent, null, () => undefined).asItIs().catch((error) => {
        if (error instanceof TimeUp) return null;
        throw error;
      });
      signal.throwIfAborted();
      if (attempt) this.show(attempt, false);
    }
  }

  /** A page that is left and comes back goes on where it was. */
  private async untilDone(body: string | null): Promise<State> {
    for (let press = body; ; press = null) {
      await this.away?.back;
      this.stretch = new AbortController();
      const { signal } = this.stretch;
      if (this.closed) this.stretch.abort(this.options.signal?.reason);
      try {
        await this.tabs.alone(signal, () => this.set({ phase: "checking", canPay: false, elsewhere: true }), (waited) => {
          const { options, env, timing } = this;
          return this.bounded({ options, env, timing, signal, until: Date.now() + timing.giveUp }, press, waited);
        });
        return this.current;
      } catch (error) {
        if (signal.reason === left && !this.closed) continue;
        throw signal.aborted ? (this.options.signal?.reason ?? signal.reason) : error;
      }
    }
  }

  /** The looking ends at some time. Other tabs hear of that, too, so that they don't begin it anew. */
  private async bounded(work: Work, body: string | null, waited: boolean): Promise<void> {
    try {
      await this.settle(work, body, waited);
    } catch (error) {
      const refused = error instanceof Refused;
      if (work.signal.aborted || !(refused || error instanceof TimeUp)) throw error;
      this.set({ phase: "unknown", canPay: true, ...(refused && { problem: error.problem }) });
    } finally {
      this.working = false;
    }
  }

  /**
   * Does the work, with every other tab waiting. A press to pay that had to wait for another tab's payment has joined it, unless its end was
   * shown here before; one of "Check again" is for what is under way, and begins nothing else.
   */
  private async settle(work: Work, body: string | null, waited: boolean): Promise<void> {
    work.signal.throwIfAborted();
    if (waited && this.current.phase !== "idle" && !busy(this.current)) return; // the other tab has told how it ended
    this.set({ elsewhere: false });
    let intent = this.adopt(this.records.load());
    const live = underWay(intent);
    const joined = waited && ((live && !this.looking) || (intent?.end && intent.key !== this.shown));
    const press = joined || (this.looking && !live) ? null : body;
    if (intent?.end) {
      await this.showEnd(work, intent);
      if (press === null || !this.current.canPay) return;
      intent = null;
    }
    this.working = true;
    const begins = !intent?.attempt || this.form.missing(intent.bodies);
    if (begins) intent = await this.begin(work, intent, press);
    if (intent) await this.follow(work, intent, begins && press !== null);
  }

  /** Follows an attempt to its end. After a failure it goes on with the one that the page's server knows to be live. */
  private async follow(work: Work, intent: Intent, present = false): Promise<void> {
    const known = this.current.attempt?.payment_attempt_id === intent.attempt ? this.current.attempt : null;
    if (this.form.open) work.until = Infinity; // the customer has as long as the attempt, which expires
    const attempt = await this.steps.follow(work, intent, known, present).catch((error) => this.outlived(intent, error));
    if (!attempt) return;
    if (attempt.status !== "pending") this.end(intent, attempt.status);
    const next = this.adopt(intent);
    if (next && next !== intent) await this.follow(work, next);
  }

  /**
   * Forgets an attempt of which nobody will tell any more: its own token was all there was, and has expired, or is refused or was never there
   * and somebody has asked for it again. As after a failure the order judges the next press: it takes none beside an attempt that is pending,
   * authorised or has succeeded.
   */
  private outlived(intent: Intent, error: unknown): null {
    if (!(error instanceof Refused) || this.options.statusUrl || this.options.authorization) throw error;
    const refused = !intent.token || error.problem?.status === 401;
    const expired = intent.token && ageOf(intent) >= tokenLife;
    if (!refused || !(expired || this.looking)) throw error;
    this.forget(intent);
    this.working = false;
    this.set(idle);
    return null;
  }

  /** Gives up the key: nothing that is kept with it is needed any more. */
  private forget(intent: Intent): void {
    if (this.records.isOf(intent)) this.records.save(newIntent());
  }

  /** What the page's server knows counts where storage knows of nothing that is under way or has succeeded. */
  private adopt(kept: Intent | null): Intent | null {
    const attempt = this.theirs;
    if (!attempt || (underWay(kept) && kept.attempt !== attempt)) return kept;
    this.theirs = undefined;
    if (kept && (kept.attempt === attempt || kept.end === "succeeded")) return kept;
    const intent = { ...newIntent(), attempt };
    this.records.save(intent);
    return intent;
  }

  /** Sends the pay. It returns null if there is no attempt to follow. */
  private async begin(work: Work, kept: Intent | null, press: string | null, again = false): Promise<Intent | null> {
    const intent = kept ?? newIntent();
    const lost = intent.bodies.length > 0, fresh = press !== null && !intent.bodies.includes(press);
    if (press !== null) {
      intent.bodies = [press, ...intent.bodies.filter((b) => b !== press)].slice(0, mostBodies);
      intent.at = Date.now();
    } else if (!lost) {
      this.working = false;
      if (this.current.phase !== "cancelled") this.set(idle);
      return null;
    } else if (!intent.attempt && ageOf(intent) > this.timing.resendWithin) {
      await this.doubt(work);
      return null;
    }
    if (!intent.attempt) this.set({ ...idle, phase: lost ? "checking" : "sending", canPay: false });
    work.signal.throwIfAborted(); // what is kept is sent by the next page, and whoever pressed this is told that it was broken off
    this.records.save(intent);
    const sent = await send(work, () => payAt(work), intent.key, intent.bodies, fresh, (offline) => this.set({ phase: "checking", offline }));
    if (sent.problem?.code === taken) return this.taken(work, intent, sent.problem, press, again);
    return this.sent(intent, sent, again) ? intent : null;
  }

  /**
   * The key belongs to a body that is not kept here: another tab's without locks, or one that storage has lost. So something was begun, and
   * the key says no more of it. If storage doesn't either by now, a press to pay is sent once more, under a key of its own. That can't charge
   * twice, because the order judges it: while an attempt is pending or authorised it answers with that one, once one has succeeded or holds
   * money it is paid, and after a failure that nobody has shown, what was pressed is charged alone. A look begins nothing: it stays
   * in doubt. "Check again" gives up the key, and the press after that is the order's to judge.
   */
  private async taken(work: Work, intent: Intent, problem: Problem, press: string | null, again: boolean): Promise<Intent | null> {
    const kept = this.records.load();
    if (kept?.attempt && !kept.end) return kept;
    if (kept?.end) await this.showEnd(work, kept);
    else if (press !== null && !this.looking && !again) return this.begin(work, newIntent(), press, true);
    else {
      if (press !== null) this.forget(intent);
      await this.doubt(work, problem);
    }
    return null;
  }

  /**
   * What became of a press can't be found out by its key. The attempt that the page's server knows may be it, so that one is looked at first.
   * If it has failed, the key that is kept still has its say.
   */
  private async doubt(work: Work, problem: Problem | null = null): Promise<void> {
    if (this.theirs) {
      const intent = { ...newIntent(), attempt: this.theirs };
      const show: typeof this.show = (attempt, offline) => this.show(attempt?.status === "failed" ? null : attempt, offline);
      const follower = new Follower(work, intent, null, show);
      void follower.check();
      const { status } = await follower.toTheEnd();
      this.theirs = undefined;
      if (status === "succeeded") return this.end(intent, status);
    }
    this.set({ ...idle, phase: "unknown", problem });
  }

  /**
   * Reports whether there is an attempt to follow. What the order says of itself is true, whoever paid it. No refusal proves that nothing was
   * begun where the press was sent once before, under another key.
   */
  private sent(intent: Intent, sent: Sent, again: boolean): boolean {
    const { attempt, problem, token, form } = sent;
    this.set({ problem: problem ?? null, offline: false });
    const theirs = problem?.code === "payment-in-progress" ? problem.attempt : undefined;
    const follow = attempt ?? theirs;
    if (follow) {
      if (intent.attempt !== follow.payment_attempt_id) delete intent.step, delete intent.back;
      intent.attempt = follow.payment_attempt_id;
      const kept = this.records.load(), known = token ?? (kept?.attempt === intent.attempt && kept.token);
      if (known) intent.token = known;
      intent.bodies = form && this.options.mount ? [sent.body] : []; // the next page of this browser gets the form by the same request
      if (follow.status !== "failed" || this.records.isOf(intent)) this.records.save(intent);
      if (form && follow.status === "pending") this.form.show(form, follow);
      this.show(follow, false);
      return true;
    }
    if (problem?.code === "order-already-paid") {
      // With an attempt it is not paid yet: money came late, and what becomes of it may change until the next look.
      if (problem.attempt) this.set({ attempt: problem.attempt });
      if (problem.attempt) intent.attempt = problem.attempt.payment_attempt_id;
      this.end(intent, problem.attempt ? "failed" : "succeeded");
    } else if (problem?.code === "order-cancelled") {
      // Perhaps it is only being cancelled, and ends as paid: the next press asks it again, under a key that has not been answered yet.
      this.forget(intent);
      this.set({ phase: "cancelled", canPay: false });
    } else this.set({ phase: problem && !again && this.refused(intent, sent, problem) ? "refused" : "unknown", canPay: true });
    return false;
  }

  /** Reports whether a refusal proves that nothing was begun. It does so for its own body, if no try of that was lost or paylatch refuses it. */
  private refused(intent: Intent, { body, lost }: Sent, problem: Problem): boolean {
    if (lost && !refusesBody(problem)) return false;
    intent.bodies = intent.bodies.filter((b) => b !== body);
    const none = intent.bodies.length === 0;
    // The key of an order that was not found is used up.
    if (this.records.isOf(intent)) this.records.save(none && !lost && problem.status === 404 ? newIntent() : intent);
    return none;
  }

  private end(intent: Intent, end: NonNullable<Intent["end"]>): void {
    intent.end = end;
    intent.bodies = [];
    delete intent.step;
    if (end !== "failed") delete intent.token;
    if (end !== "failed" || this.records.isOf(intent)) this.records.save(intent);
    this.shown = intent.key;
    const { attempt } = this.current;
    const late = end === "failed" && arrived(attempt);
    this.set({ phase: late ? "arrived" : end, canPay: end === "failed" && !late && !!attempt?.can_start_new_attempt, offline: false });
  }

  /** Whether a failed payment may be tried again is asked anew each time. */
  private async showEnd(work: Work, intent: Intent): Promise<void> {
    const end = intent.end!;
    this.shown = intent.key;
    if (end !== "failed") return this.set({ ...idle, phase: end, canPay: false, attempt: this.current.attempt });
    try {
      this.set({ phase: "failed", canPay: false });
      this.show(await new Follower(work, intent, null, (_, offline) => this.set({ offline })).asItIs(), false);
    } catch (error) {
      // Nobody tells this page any more, so nothing is offered "again". The order's own rule judges a press.
      if (!(error instanceof Refused)) throw error;
      this.set(idle);
    }
  }

  private readonly show = (attempt: Attempt | null, offline: boolean): void => {
    if (!attempt) return this.set({ phase: "checking", canPay: false, offline });
    const { status, stage, next_action: action } = attempt;
    const waits = stage === "awaiting_customer" && !this.steps.busy, { canAct } = this.steps;
    const open = waits && action ? "action" : waits && this.form.open ? "form" : "checking";
    const phase = arrived(attempt) ? "arrived" : status !== "pending" ? status : open;
    this.set({ phase, canPay: status === "failed" && attempt.can_start_new_attempt, canAct, attempt, offline });
  };

  private set(change: Partial<State>): void {
    const next = { ...this.current, ...change };
    if (next.phase !== "action") next.canAct = false;
    if (JSON.stringify(next) === JSON.stringify(this.current)) return;
    this.current = next;
    this.tell();
    this.options.onStatus?.(next); // before the form goes: the page may move the focus out of it
    for (const listener of [...this.listeners]) listener();
    if (busy(next) || next.phase === "unknown") return;
    this.form.takeAway();
    this.steps.over();
  }

  private tell(): void {
    if (this.working) this.tabs.tell(this.current);
  }

  /** Shows what another tab does and stands by in case that one is closed. */
  private mirror(state: State): void {
    if (this.working || this.closed || state.phase === "idle") return;
    this.set({ ...state, canAct: false, elsewhere: busy(state) });
    this.watch();
    if (busy(state) && !this.running) void this.resume().catch(() => undefined);
  }

  private readonly leave = (): void => {
    let come = (): void => undefined;
    const back = new Promise<void>((resolve) => (come = resolve));
    this.away = { back, come };
    this.tabs.shut();
    this.watching.abort();
    this.stretch.abort(left);
  };

  private readonly comeBack = (): void => {
    if (!this.away) return;
    const { come } = this.away;
    this.away = null;
    this.tabs.open();
    come();
    void this.resume().catch(() => undefined);
  };
}
