import { parse, read, type Answer } from "./answer.js";
import { askedFor, backoff, Late, pause, TimeUp, within } from "./pause.js";
import type { Intent } from "./record.js";
import { events } from "./sse.js";
import type { Attempt, Problem } from "./types.js";
import { bearer, join, ofAttempt, Refused, shopRequest, type Headers, type Work } from "./work.js";

/** Somebody who tells of the attempt. */
interface Source {
  url: string;
  stream: boolean;
  credentials: RequestCredentials;
  headers: () => Headers | Promise<Headers>;
}

/** The ways to hear of a change, the best first. */
const enum Way { Stream, Wait, Poll }

/** Follows one attempt by whatever way works here. */
export class Follower {
  private readonly sources: Source[];
  private way: Way = Way.Stream;
  private failures = 0;
  private refusal: Problem | null = null;
  /** Whether it looks on although the time was up. */
  private late = false;

  constructor(
    private readonly work: Work, intent: Intent, public latest: Attempt | null,
    private readonly show: (attempt: Attempt | null, offline: boolean) => void,
  ) {
    this.sources = sourcesOf(work, intent);
  }

  /** Returns the attempt once it is final. */
  async toTheEnd(): Promise<Attempt> {
    while (!this.latest || this.latest.status === "pending") await this.turn();
    return this.latest;
  }

  /** Has the provider asked at once, beside the following, which goes on without an answer. */
  async check(): Promise<void> {
    const { env, timing, signal } = this.work, source = this.sources.find(({ stream }) => stream);
    if (!source) return;
    try {
      const headers = { ...(await source.headers()), Accept: "application/json" };
      const { attempt } = await within(timing.requestTimeout, signal, async (signal) =>
        read(await env.fetch(source.url + "/check", { method: "POST", headers, credentials: source.credentials, signal, cache: "no-store" })));
      if (!attempt || signal.aborted) return;
      this.take(attempt);
      this.show(this.latest, false);
    } catch {
      // The schedule asks, too.
    }
  }

  /** Returns the attempt as it is now, whatever was known before: what a page may offer next can change without a new version. */
  async asItIs(): Promise<Attempt> {
    this.way = Way.Poll;
    this.latest = null;
    while (!this.latest) await this.turn();
    return this.latest;
  }

  private async turn(): Promise<void> {
    const source = this.sources[0];
    if (!source) throw new Refused(this.refusal);
    this.awake();
    if (Date.now() > this.work.until) throw new TimeUp();
    if (!source.stream && this.way === Way.Stream) this.way = Way.Wait;
    const before = this.latest, began = Date.now();
    let answer: Answer | null;
    try {
      answer = this.way === Way.Stream ? await this.stream(source) : await this.ask(source);
    } catch {
      this.work.signal.throwIfAborted();
      answer = null;
    }
    this.awake();
    if (!answer || answer.problem) return this.failed(answer);
    this.failures = 0;
    this.show(this.latest, false);
    if (this.way === Way.Poll || Date.now() - began < this.work.timing.wait / 4) await this.rest(before, answer);
  }

  /** A browser may have suspended the page for all of its time, so it looks on for as long as one request may take. */
  private awake(): void {
    const { work } = this;
    if (this.late || Date.now() <= work.until) return;
    this.late = true;
    work.until = Date.now() + work.timing.requestTimeout;
  }

  /** What came too soon for a long poll was an ordinary one. */
  private async rest(before: Attempt | null, answer: Answer): Promise<void> {
    const { work, latest } = this;
    if (!latest || latest.status !== "pending" || (this.way !== Way.Poll && latest.version !== before?.version)) return;
    const asked = Math.max(askedFor(answer.retryAfter), latest.next_poll_ms || work.timing.backoff);
    await pause(asked * (1 + work.env.random() / 4), work.until, work.signal, work.env);
  }

  private async failed(answer: Answer | null): Promise<void> {
    const { work } = this, problem = answer?.problem ?? null;
    const streaming = this.way === Way.Stream;
    const usable = !problem || problem.retryable;
    const refused = problem && ([401, 403].includes(problem.status) || (problem.status === 404 && !streaming));
    if (refused || (!usable && this.way === Way.Poll)) {
      this.refusal = problem;
      this.sources.shift();
      this.way = Way.Stream;
      return;
    }
    // A page may be kept from an address for good, by a policy of its own or of the other side, and sees only silence; or what answers there
    // is not paylatch.
    if (this.way === Way.Poll && this.failures > 1 && this.sources.length > 1) {
      this.sources.push(this.sources.shift()!);
      this.way = Way.Stream;
      this.failures = 0;
    }
    this.failures++;
    if (this.way !== Way.Poll && (!usable || this.failures > 1)) this.way++;
    if (!usable) return;
    this.show(this.latest, !problem);
    const asked = askedFor(answer?.retryAfter, problem);
    await pause(backoff(this.failures - 1, asked, work.env, work.timing), work.until, work.signal, work.env, asked > 0);
  }

  private async ask(source: Source): Promise<Answer> {
    const { env, timing, signal } = this.work, wait = this.way === Way.Wait;
    const headers: Headers = { ...(await source.headers()), Accept: "application/json" };
    if (this.latest) headers["If-None-Match"] = `"${this.latest.version}"`;
    if (wait && this.latest) headers["Prefer"] = "wait=" + Math.ceil(timing.wait / 1000);
    const limit = timing.requestTimeout + (wait ? timing.wait : 0);
    const answer = await within(limit, signal, async (signal) =>
      read(await env.fetch(source.url, { headers, credentials: source.credentials, signal, cache: "no-store" })));
    if (answer.attempt) this.take(answer.attempt);
    return answer;
  }

  /** A stream has been useful if it told anything. One that is silent at first is being kept back on its way. */
  private async stream(source: Source): Promise<Answer> {
    const { env, timing, signal: outer } = this.work;
    const unusable: Answer = { problem: { status: 0, code: "", retryable: false }, retryAfter: null };
    let told = false;
    try {
      return await within(timing.firstEvent, outer, async (signal, alive) => {
        const response = await env.fetch(source.url + "/stream", {
          headers: { ...(await source.headers()), Accept: "text/event-stream" },
          credentials: source.credentials, signal, cache: "no-store",
        });
        if (!response.ok) return read(response);
        if (!response.body || !response.headers.get("Content-Type")?.startsWith("text/event-stream")) return unusable;
        await events(response.body, () => alive(timing.silence), (name, data) => {
          const attempt = parse(data) as unknown as Attempt | null;
          if (name !== "status" || !attempt) return false;
          told = true;
          this.take(attempt);
          this.show(this.latest, false);
          return this.latest?.status !== "pending";
        });
        return told ? { retryAfter: null } : unusable;
      });
    } catch (error) {
      if (error instanceof Late && !told) return unusable;
      throw error;
    }
  }

  /** News may arrive out of order; an attempt only moves forward. */
  take(attempt: Attempt): void {
    if (!this.latest || attempt.version >= this.latest.version) this.latest = attempt;
  }
}

function sourcesOf({ options }: Work, { attempt, token }: Intent): Source[] {
  const api = { url: join(options.apiUrl, "/v1/payment-attempts/" + attempt), stream: true, credentials: "omit" as const };
  const list: Source[] = [];
  if (token) list.push({ ...api, headers: () => ({ Authorization: "Bearer " + token }) });
  if (options.authorization) list.push({ ...api, headers: () => bearer(options) });
  if (options.statusUrl) {
    const { headers, credentials } = shopRequest(options);
    list.push({ url: ofAttempt(options.statusUrl, attempt!), stream: false, credentials, headers: () => headers });
  }
  return list;
}
