import { newKey, orNull } from "./environment.js";
import type { Environment } from "./types.js";

/** What must outlive the page: one payment of one order, from the first press on. */
export interface Intent {
  /** The client request id: one from the first press to the final answer. */
  key: string;
  /** When it was last pressed, in milliseconds since 1970. */
  at: number;
  /** Bodies that were sent under the key and not answered yet, the latest first. */
  bodies: string[];
  attempt?: string;
  /** Reads this one attempt. */
  token?: string;
  /** Details that were given for the attempt and not answered yet, and the key under which they are sent. */
  step?: Step;
  /** The digest of the latest details of `returned` that were answered. */
  back?: string;
  /** How it ended. After a failure the next press has a key of its own, if the order takes one. */
  end?: "succeeded" | "failed";
}

export interface Step {
  key: string;
  body: string;
  /** The digest of the body, where it is what the customer has come back with. */
  back?: string;
}

export function newIntent(): Intent {
  return { key: newKey(), at: Date.now(), bodies: [] };
}

export function newStep(details: object): Step {
  return { key: newKey(), body: JSON.stringify({ details }) };
}

/** Clocks are put right by this much, in milliseconds. */
const adjustment = 60_000;

/** How long ago an intent was pressed, in milliseconds: for ever if the clock does not tell, because it has been set back since. */
export function ageOf({ at }: Intent): number {
  const age = Date.now() - at;
  return age >= -adjustment ? age : Infinity;
}

/** Keeps an intent in storage or, where there is none or it throws, in memory. */
export class Records {
  private memory: Intent | null = null;

  constructor(private readonly env: Environment, private readonly name: string) {}

  load(): Intent | null {
    if (this.memory) return this.memory;
    const text = orNull(() => this.env.storage?.getItem(this.name));
    if (text === null) return null;
    const kept = orNull(() => JSON.parse(text) as Intent);
    return kept && typeof kept.key === "string" && Array.isArray(kept.bodies) ? kept : null;
  }

  /** Whether what is kept is about this intent, or nothing is: a tab without the lock may have gone on to another payment meanwhile. */
  isOf({ key, attempt }: Intent): boolean {
    const kept = this.load();
    return !kept || (kept.attempt ? kept.attempt === attempt : kept.key === key);
  }

  save(intent: Intent): void {
    // A copy that storage refuses must not be shadowed by an older one that it still holds.
    const { storage } = this.env;
    const stored = orNull(() => storage && (storage.setItem(this.name, JSON.stringify(intent)), true));
    if (!stored) orNull(() => storage?.removeItem(this.name));
    this.memory = stored ? null : intent;
  }
}
