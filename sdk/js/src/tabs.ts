import { orNull } from "./environment.js";
import type { Environment, State } from "./types.js";

/** Lets one tab work on an order at a time, and tells the others. Without the means for it each works alone: they share the key. */
export class Tabs {
  private channel: BroadcastChannel | null = null;
  /** Whether another tab has spoken since it was asked. */
  private answered = false;

  constructor(
    private readonly env: Environment, private readonly name: string, private readonly patience: number,
    private readonly heard: (state: State) => void, private readonly asked: () => void,
  ) {
    this.open();
  }

  open(): void {
    this.channel ??= orNull(() => this.env.channel?.(this.name));
    if (!this.channel) return;
    this.channel.onmessage = ({ data }) => {
      if (data === "?") return this.asked();
      this.answered = true;
      this.heard(data as State);
    };
    this.ask();
  }

  private ask(): void {
    this.answered = false;
    this.channel?.postMessage("?");
  }

  /** An open channel would keep the page out of the back/forward cache. */
  shut(): void {
    this.channel?.close();
    this.channel = null;
  }

  tell(state: State): void {
    this.channel?.postMessage(state);
  }

  /** Runs once no other tab does; `waited` says that one did. */
  async alone(signal: AbortSignal, wait: () => void, run: (waited: boolean) => Promise<void>): Promise<void> {
    const { locks } = this.env;
    if (!locks) return run(false);
    let begun = false, waited = false;
    const begin = (): Promise<void> => ((begun = true), run(waited));
    try {
      const free = await locks.request(this.name, { ifAvailable: true }, async (lock) => {
        if (lock) await begin();
        return lock !== null;
      });
      if (free) return;
      waited = true;
      wait();
      await this.inTurn(locks, signal, begin);
    } catch (error) {
      // A frame may be refused the locks that its browser has.
      if (begun || signal.aborted) throw error;
      await run(waited);
    }
  }

  /**
   * Waits for the lock for as long as the tab that has it answers. One that its browser has suspended keeps it and is silent, perhaps for
   * ever; beside that one this tab works as it would without locks, and the wait is rejected.
   */
  private async inTurn(locks: Pick<LockManager, "request">, signal: AbortSignal, begin: () => Promise<void>): Promise<void> {
    const waiting = new AbortController();
    const stop = (): void => waiting.abort(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const asking = setInterval(() => (this.answered ? this.ask() : stop()), this.patience);
    this.ask();
    try {
      await locks.request(this.name, { signal: waiting.signal }, () => {
        clearInterval(asking);
        return begin();
      });
    } finally {
      clearInterval(asking);
      signal.removeEventListener("abort", stop);
    }
  }
}
