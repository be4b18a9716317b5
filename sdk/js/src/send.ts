import { read, type Answer } from "./answer.js";
import { askedFor, backoff, pause, within } from "./pause.js";
import type { Address, Work } from "./work.js";

/** What the order says of itself: no other body of the key would hear anything else. */
const ofTheOrder = ["payment-in-progress", "order-already-paid", "order-cancelled"];

/** The code of a key that belongs to another body. */
export const taken = "idempotency-key-reused";

export interface Sent extends Answer {
  /** The body that was answered. */
  body: string;
  /** A try of that body went unanswered, so a refusal of another try does not prove that nothing was begun. */
  lost: boolean;
}

/**
 * Sends a command until somebody answers, always under one key; `fresh` says that its latest body was never sent. A refused body gives
 * way to the next, which may have been taken before. If all are refused, that the key is for none of them is told of, or else the first refusal.
 */
export async function send(
  work: Work, to: () => Promise<Address>, key: string, bodies: string[], fresh: boolean, silence: (offline: boolean) => void,
): Promise<Sent> {
  let which = 0, lost = !fresh, renewed = false;
  let told: Sent | undefined;
  for (let n = 0; ; n++) {
    const body = bodies[which] ?? "{}";
    const answer = await post(work, to, key, body);
    const problem = answer?.problem;
    if (problem?.status === 401 && work.options.authorization && !renewed) {
      renewed = true;
      continue;
    }
    const unsure = !problem || problem.status < 400 || problem.status >= 500 || problem.status === 408;
    lost ||= unsure;
    if (answer && !problem?.retryable) {
      const sent = { ...answer, body, lost };
      if (unsure || ofTheOrder.includes(problem.code)) return sent;
      if (!told || (problem.code === taken && told.problem?.code !== taken)) told = sent;
      if (++which >= bodies.length) return told;
      lost = true;
      continue;
    }
    silence(!answer);
    const asked = askedFor(answer?.retryAfter, problem);
    await pause(backoff(n, asked, work.env, work.timing), work.until, work.signal, work.env, asked > 0);
  }
}

/** Null means that no answer came. */
async function post({ env, timing, signal }: Work, to: () => Promise<Address>, key: string, body: string): Promise<Answer | null> {
  try {
    return await within(timing.requestTimeout, signal, async (limit) => {
      const { url, headers, credentials } = await to();
      return read(await env.fetch(url, {
        method: "POST", body, credentials, signal: limit, cache: "no-store",
        headers: { ...headers, "Content-Type": "application/json", Accept: "application/json", "Idempotency-Key": key },
      }));
    });
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
