import { digest } from "./environment.js";
import { Follower } from "./follow.js";
import { TimeUp } from "./pause.js";
import { newStep, type Intent, type Step } from "./record.js";
import { send, type Sent } from "./send.js";
import type { Acted, Attempt, NextAction, Options, State } from "./types.js";
import { completeAt, type Work } from "./work.js";

/** What the steps need of the checkout. */
export interface Host {
  state: () => State;
  set: (change: Partial<State>) => void;
  show: (attempt: Attempt | null, offline: boolean) => void;
  /** The payment that is kept. */
  load: () => Intent | null;
  save: (intent: Intent) => void;
  resume: () => void;
  report: (error: unknown) => void;
  submit: (url: string, fields: Record<string, string>) => void;
}

/** An attempt that is being followed. */
interface Following {
  work: Work;
  intent: Intent;
  follower: Follower;
  /** Ends what is sent for the attempt: it is final, or the page was left. */
  ended: AbortController;
  /** Until when it is followed if nothing keeps the customer. */
  until: number;
  /** Whether the customer has just acted here, and is taken on by what comes next. */
  present: boolean;
  /** Whether what the page before this one has left is being dealt with. */
  owing: boolean;
}

/** An action that this page has begun, for as long as the attempt waits for it. */
interface Doing {
  name: string;
  action: NextAction;
  attempt: Attempt;
  stop: AbortController;
  running: boolean;
  /** Whether the page's hook has it in hand: the customer has as long as the attempt, which expires. */
  held: boolean;
  /** Whether it can be done again. */
  again: boolean;
}

/** Refusals that say nothing of the details: the same may be sent again later. */
const notOfTheDetails = (status: number) => status < 400 || status === 401 || status === 403 || status >= 500;

const waits = (a: Attempt) => a.status === "pending" && a.stage === "awaiting_customer";

/** The steps of a payment after the pay: what it waits for is done, and what comes of that is passed on. */
export class Steps {
  /** The actions that this page has begun, by their digests. */
  private readonly begun = new Set<string>();
  private doing: Doing | null = null;
  private at: Following | null = null;
  /** Details that are on their way. */
  private sending: { body: string; end: Promise<void> } | null = null;
  /** What the customer has come back with; undefined until the page was asked for it. */
  private back: Step | null | undefined;

  constructor(private readonly options: Options, private readonly host: Host) {}

  get busy(): boolean {
    return this.sending !== null;
  }

  get canAct(): boolean {
    return !this.sending && !!this.doing && this.doing.again && !this.doing.running;
  }

  /** Follows an attempt until it is final, and does what it waits for meanwhile. `present` says that the customer has just pressed here. */
  async follow(work: Work, intent: Intent, known: Attempt | null, present: boolean): Promise<Attempt> {
    let sight: (attempt: Attempt) => void = () => undefined;
    const seen = new Promise<Attempt>((resolve) => (sight = resolve));
    const follower = new Follower(work, intent, known, (attempt, offline) => {
      if (at !== this.at) return; // an answer to a check that came after the end
      this.host.show(attempt, offline);
      if (attempt) sight(attempt);
      if (attempt) this.see(at, attempt);
    });
    const ended = new AbortController(), end = () => ended.abort(work.signal.reason);
    const at: Following = { work, intent, follower, ended, until: work.until, present, owing: true };
    this.at = at;
    work.signal.addEventListener("abort", end);
    if (known) sight(known);
    if (this.doing?.held) work.until = Infinity;
    this.owed(at, seen, !known).catch((error) => this.unlessEnded(at, error));
    try {
      return await follower.toTheEnd();
    } finally {
      this.at = null;
      work.signal.removeEventListener("abort", end);
      end();
    }
  }

  /** Details that the page before has had no answer to, those with which the customer has come back, and then a question. */
  private async owed(at: Following, seen: Promise<Attempt>, opened: boolean): Promise<void> {
    await this.deliver(at);
    const back = this.cameBackWith(at);
    if (back) {
      const attempt = await seen;
      this.back = null;
      if (waits(attempt) && !at.intent.step) this.keep(at.intent, back);
      await this.deliver(at);
    }
    at.owing = false;
    const { latest } = at.follower;
    if (opened && (latest?.status ?? "pending") === "pending") void at.follower.check();
    if (latest) this.see(at, latest);
  }

  /** They are of the payment that the page opens with, and of no later one. */
  private cameBackWith({ intent, present }: Following): Step | null {
    if (present) this.back = null;
    if (this.back === undefined) {
      const details = this.givenBack();
      this.back = details && Object.keys(details).length > 0 ? newStep(details) : null;
    }
    const back = this.back && digest(this.back.body);
    return this.back && back && intent.back !== back ? { ...this.back, back } : null;
  }

  private givenBack(): Record<string, string> | null {
    try {
      return this.options.returned?.() ?? null;
    } catch (error) {
      this.host.report(error);
      return null;
    }
  }

  /** Looks at what the attempt waits for now. */
  private see(at: Following, attempt: Attempt): void {
    if (at !== this.at || at.owing || this.sending) return;
    const { present } = at, action = waits(attempt) ? attempt.next_action : null;
    at.present = false;
    const name = action && digest(attempt.payment_attempt_id + JSON.stringify(action, sorted));
    if (name === (this.doing?.name ?? null)) return;
    this.over();
    if (!action || !name) return;
    this.doing = { name, action, attempt, stop: new AbortController(), running: false, held: false, again: true };
    if (this.begun.has(name)) this.refresh();
    else void this.run(this.doing, present);
  }

  /** Ends what is done for an action that the attempt waits for no longer. */
  over(): void {
    this.doing?.stop.abort();
    this.doing = null;
    if (this.at?.work.until === Infinity && this.at.until < Infinity) this.at.work.until = Date.now() + this.at.work.timing.giveUp;
  }

  /** Does the action again, for a customer who asks for it, or passes on what is kept of the last time. */
  again(): void {
    const { at, doing } = this;
    if (!at || !doing || !this.canAct) return;
    this.host.set({ problem: null });
    if (at.intent.step) this.deliver(at).catch((error) => this.unlessEnded(at, error));
    else void this.run(doing, true);
  }

  private async run(doing: Doing, present: boolean): Promise<void> {
    const { onAction } = this.options, { action, attempt, stop } = doing;
    this.begun.add(doing.name);
    if (!onAction) return this.byDefault(doing, present);
    doing.running = doing.held = true;
    doing.again = false;
    if (this.at) this.at.work.until = Infinity;
    this.refresh();
    try {
      const acting = { complete: (details: object) => this.complete(doing, details), signal: stop.signal };
      const acted: Acted = await onAction(action, attempt, acting);
      doing.running = false;
      if (stop.signal.aborted || acted === true) return;
      if (acted) await this.complete(doing, acted);
      else this.byDefault(doing, present);
    } catch (error) {
      doing.running = false;
      doing.again = true;
      if (!stop.signal.aborted) this.host.report(error);
      this.refresh();
    }
  }

  /** Takes the customer to where an action leads, if they have just acted here: a page that is only opened takes them nowhere. */
  private byDefault(doing: Doing, present: boolean): void {
    const { action } = doing, { redirect } = this.options;
    const leaves = action.type === "redirect" || action.type === "post_form";
    doing.held &&= !leaves;
    doing.again = leaves && redirect !== false && /^https?:/i.test(action.url);
    this.refresh();
    if (leaves && doing.again && present) {
      if (action.type === "post_form") this.host.submit(action.url, action.fields ?? {});
      else (redirect || ((to: string) => location.assign(to)))(action.url);
    } else if (action.type === "sdk" && this.options.onAction) void this.at?.follower.check();
  }

  /** Passes on what came of an action. One after the other: the first may have moved the attempt on. */
  private async complete(doing: Doing, details: object): Promise<State> {
    const { host, options } = this;
    if (!options.completeUrl && !options.authorization) throw new TypeError("paylatch: give completeUrl or authorization");
    const step = newStep(details);
    doing.running = false;
    if (this.sending?.body === step.body) {
      await this.sending.end;
      return host.state();
    }
    while (this.sending) await this.sending.end;
    if (doing !== this.doing) return host.state();
    const at = this.at, intent = at?.intent ?? host.load();
    if (!intent) return host.state();
    this.keep(intent, step);
    if (at) await this.deliver(at).catch((error) => this.unlessEnded(at, error));
    else host.resume();
    return host.state();
  }

  /** The same details that had no answer keep their key. */
  private keep(intent: Intent, step: Step): void {
    if (intent.step?.body !== step.body) intent.step = step;
    this.host.save(intent);
  }

  /** Sends the details that are kept until they are answered. */
  private async deliver(at: Following): Promise<void> {
    const { work, intent, follower } = at, { step } = intent;
    if (this.sending) return this.sending.end;
    if (!step) return;
    let done = (): void => undefined;
    this.sending = { body: step.body, end: new Promise((resolve) => (done = resolve)) };
    this.host.set({ problem: null });
    this.host.show(follower.latest, false);
    try {
      const to = () => completeAt(work, intent.attempt!);
      const sent = await send(Object.assign(Object.create(work), { signal: at.ended.signal }), to, step.key, [step.body], false, (offline) => this.host.show(follower.latest, offline));
      this.sending = null;
      this.answered(at, step, sent);
    } finally {
      this.sending = null;
      done();
    }
  }

  private answered(at: Following, step: Step, { attempt, problem }: Sent): void {
    const { intent, follower } = at;
    if (!problem || !notOfTheDetails(problem.status)) {
      delete intent.step;
      if (step.back) intent.back = step.back;
      this.host.save(intent);
    }
    if (this.doing) this.doing.again = true;
    if (attempt) follower.take(attempt);
    else if (problem?.status === 409) void follower.check(); // it waits no longer, and perhaps nobody has told this page yet
    else this.host.set({ problem: problem ?? null });
    this.host.show(follower.latest, false);
    at.present = !!attempt;
    if (follower.latest) this.see(at, follower.latest);
  }

  private refresh(): void {
    if (this.at?.follower.latest) this.host.show(this.at.follower.latest, this.host.state().offline);
  }

  /** What broke off because the page was left or closed, or time was up, goes on when the payment is followed again. */
  private unlessEnded({ ended }: Following, error: unknown): void {
    if (!ended.signal.aborted && !(error instanceof TimeUp)) this.host.report(error);
  }
}

/** Members of objects in order, so that two texts of one action are the same. */
function sorted(_: string, value: unknown): unknown {
  return value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
}
