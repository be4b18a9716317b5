import { orNull } from "./environment.js";
import type { Environment, State } from "./types.js";

/** Lets one tab work on an order at a time, and tells the others. Without the means for it each works alone: they share the key. */
export class Tabs {
  private channel: BroadcastChannel | null = null;

  constructor(
    private readonly env: Environment, private readonly name: string,
    private readonly heard: (state: State) => void, private readonly asked: () => void,
  ) {
    this.open();
  }

  open(): void {
    this.channel ??= orNull(() => this.env.channel?.(this.name));
    if (!this.channel) return;
    this.channel.onmessage = ({ data }) => (data === "?" ? this.asked() : this.heard(data as State));
    this.channel.postMessage("?");
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
    let begun = false;
    const begin = (waited: boolean): Promise<void> => ((begun = true), run(waited));
    try {
      const free = await locks.request(this.name, { ifAvailable: true }, async (lock) => {
        if (lock) await begin(false);
        return lock !== null;
      });
      if (free) return;
      wait();
      this.channel?.postMessage("?");
      await locks.request(this.name, { signal }, () => begin(true));
    } catch (error) {
      // A frame may be refused the locks that its browser has.
      if (begun || signal.aborted) throw error;
      await run(false);
    }
  }
}
