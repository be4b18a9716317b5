import { read, type Answer } from "./answer.js";
import { askedFor, backoff, pause, within } from "./pause.js";
import type { Intent } from "./record.js";
import { bearer, join, shopRequest, type Work } from "./work.js";

export interface Sent extends Answer {
  /** A try of this key went unanswered, so a refusal of another try does not prove that nothing was begun. */
  lost: boolean;
}

/**
 * Sends the pay until somebody answers, always under the intent's key. A body that the key is not for gives way to the next: then one of
 * those has arrived before.
 */
export async function send(work: Work, intent: Intent, lost: boolean, silence: (offline: boolean) => void): Promise<Sent> {
  let which = 0;
  let renewed = false;
  for (let n = 0; ; n++) {
    const answer = await post(work, intent.key, intent.bodies[which] ?? "{}");
    const problem = answer?.problem;
    if (answer && !problem) return { ...answer, lost };
    if (problem?.code === "idempotency-key-reused" && ++which < intent.bodies.length) continue;
    if (problem?.status === 401 && work.options.authorization && !renewed) {
      renewed = true;
      continue;
    }
    lost ||= !problem || problem.status < 400 || problem.status >= 500 || problem.status === 408;
    if (answer && problem && !problem.retryable) return { ...answer, lost };
    silence(!answer);
    const asked = askedFor(answer?.retryAfter, problem);
    await pause(backoff(n, asked, work.env, work.timing), work.until, work.signal, work.env, asked > 0);
  }
}

/** Null means that no answer came. */
async function post(work: Work, key: string, body: string): Promise<Answer | null> {
  const { options, env, timing, signal } = work;
  try {
    return await within(timing.requestTimeout, signal, async (limit) => {
      const { url, headers, credentials } = await address(work);
      return read(await env.fetch(url, {
        method: "POST", body, credentials, signal: limit, cache: "no-store",
        headers: { ...headers, "Content-Type": "application/json", Accept: "application/json", "Idempotency-Key": key },
      }));
    });
  } catch {
    signal.throwIfAborted();
    return null;
  }

  async function address({ options: o }: Work) {
    if (options.payUrl) return { url: options.payUrl, ...shopRequest(o) };
    const path = "/v1/orders/" + encodeURIComponent(o.orderId) + "/pay";
    return { url: join(o.apiUrl, path), headers: await bearer(o), credentials: "omit" as const };
  }
}
