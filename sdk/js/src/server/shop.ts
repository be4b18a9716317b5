import { setByPages, type CreateOrder, type Event, type Pay } from "./api.js";
import type { Paylatch, Raw } from "./client.js";
import { checkSecrets, NotGenuineError, parseEvent } from "./event.js";
import { parse } from "./problem.js";

/** Answers a request: a route of Next and of whatever else uses `Request` and `Response`. For Node and Express see `toNode`. */
export type Handler<Context = unknown> = (request: Request, context: Context) => Promise<Response>;

/** An order's terms. */
export type NewOrder = Omit<CreateOrder, "order_id">;

/** A shop's part of a checkout. `Context` is what its framework gives a route beside the request. */
export interface Shop<Context = unknown> {
  paylatch: Paylatch;
  /** The id of the signed-in customer, by the shop's own session; null if nobody is signed in. */
  user: (request: Request, context: Context) => string | null | Promise<string | null>;
  /**
   * The terms of an order by the shop's own records, with its price; null unless the order is this customer's. Nothing that a page sends is in it.
   * It is called when a page creates the order, and must return the same each time.
   */
  order: (user: string, orderId: string) => NewOrder | null | Promise<NewOrder | null>;
  /**
   * Adds to a page's pay request what the backend decides: the account, the capture, the address to return to. It must return the same for each
   * copy of a request: no times and no random values.
   */
  pay?: (pay: Pay, user: string, orderId: string) => Pay | Promise<Pay>;
  /** The path before the order's id; `/checkout` by default. */
  base?: string;
  /** The origins of pages that may send commands, if they are others than the shop's own, such as `https://www.shop.example`. */
  origins?: readonly string[];
  /** Called with each error of the shop's functions, and if paylatch did not respond; `console.error` by default. */
  onError?: (error: unknown) => void;
}

/** The largest body of a page's request, in bytes. */
const maxBody = 96 << 10;
/** The largest delivery, in bytes. */
const maxEvent = 1 << 20;
/** A page repeats a command by itself, so the backend does not do so for long. */
const command: Raw = { timeout: 20_000, giveUp: 10_000 };
/** A page's long poll: paylatch waits for a minute at most. */
const poll: Raw = { timeout: 75_000, tries: 1 };
const forwarded = ["Content-Type", "ETag", "Retry-After", "Idempotency-Key", "Idempotency-Result", "Idempotency-Replayed", "Preference-Applied", "X-Request-Id"];

/** Is thrown for a request that is refused here. */
class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, detail: string, readonly members: string[] = []) {
    super(detail);
  }
}

/**
 * Returns the routes of a checkout, which the browser client calls:
 *
 * - `POST {base}/{order_id}` creates the order at paylatch, with the shop's price, and returns it;
 * - `POST {base}/{order_id}/pay` is `payUrl`;
 * - `GET {base}/{order_id}/status` is `statusUrl`;
 * - `POST {base}/{order_id}/complete` is `completeUrl`, the second step and the return from a provider's page.
 *
 * They act for the signed-in customer alone, so paylatch refuses the orders and attempts of others. A page may set no more than a customer's own
 * token could. A command from another site is refused (`Sec-Fetch-Site`, else `Origin`), so the session's cookie needs no token against that.
 */
export function createShop<Context = unknown>(shop: Shop<Context>): Handler<Context> {
  const base = (shop.base ?? "/checkout").replace(/\/+$/, "");
  return (request, context) => guarded(shop, request, async () => {
    const { pathname, searchParams } = new URL(request.url);
    const [, id = "", step = ""] = (pathname.startsWith(base + "/") && /^\/([^/]+)(?:\/(pay|status|complete))?$/.exec(pathname.slice(base.length))) || [];
    if (!id) throw new Refusal(404, "not-found", "There is nothing at this address.");
    if (request.method !== (step === "status" ? "GET" : "POST")) throw new Refusal(405, "method-not-allowed", "Use another method at this address.");
    if (fromElsewhere(request, shop.origins)) throw new Refusal(403, "forbidden", "The request comes from a page of another site.");
    const user = await shop.user(request, context);
    if (!user) throw new Refusal(401, "unauthenticated", "Sign in at the shop.");
    const order = decoded(id);
    switch (step) {
      case "":
        return forward(shop, "POST", "/v1/orders", await newOrder(shop, user, order));
      case "pay":
        return forward(shop, "POST", `/v1/orders/${encodeURIComponent(order)}/pay`, await payOf(shop, request, user, order));
      case "status": {
        const headers = pick(request.headers, ["If-None-Match", "Prefer"]);
        return forward(shop, "GET", attemptPath(searchParams), { ...poll, onBehalfOf: user, headers, signal: request.signal });
      }
      default:
        return forward(shop, "POST", attemptPath(searchParams) + "/complete", await completeOf(request, user));
    }
  });
}

/** What a shop does with the events of an endpoint. */
export interface Receiver {
  /** The secrets of the endpoint's configuration; two while one is replaced. */
  secrets: readonly string[];
  /** Acts on an event, once for its `id`, and resolves once the writes are on disk. If it rejects, the event comes again. */
  act: (event: Event) => Promise<void>;
  /** Called with each error of a genuine delivery; `console.error` by default. */
  onError?: (error: unknown) => void;
}

/**
 * Returns the route that takes deliveries. It answers 204 once an event was acted on, 400 if the delivery is not genuine, 413 if it is too large,
 * 500 if a genuine one can't be read, and 503 if `act` rejects. paylatch delivers again whatever got no 2xx. Throws for secrets by which nothing
 * can be verified.
 */
export function createReceiver({ secrets, act, onError }: Receiver): Handler {
  checkSecrets(secrets);
  return (request) => guarded({ onError }, request, async () => {
    if (request.method !== "POST") throw new Refusal(405, "method-not-allowed", "Use POST.");
    const body = await bytesOf(request, maxEvent);
    let event: Event;
    try {
      event = parseEvent(secrets, request.headers, body);
    } catch (error) {
      if (error instanceof NotGenuineError) throw new Refusal(400, "not-genuine", "The delivery is not genuine.");
      throw error;
    }
    try {
      await act(event);
    } catch (error) {
      report({ onError }, error);
      throw new Refusal(503, "not-acted-on", "The event was not acted on. Deliver it again.");
    }
    return new Response(null, { status: 204 });
  });
}

/** The id of an order in an address. */
function decoded(part: string): string {
  const id = part.replaceAll(/%3A/gi, ":").replaceAll(/%7E/gi, "~");
  if (!/^[A-Za-z0-9._:~-]{1,128}$/.test(id)) throw new Refusal(404, "not-found", "There is no such order of yours.");
  return id;
}

/**
 * The request that creates an order. Its key is a prefix and the order's id, so a repeated request creates no second order. With the prefix, an
 * id of one character is long enough for a key.
 */
async function newOrder<C>(shop: Shop<C>, user: string, order: string): Promise<Raw> {
  const terms = await shop.order(user, order);
  if (!terms) throw new Refusal(404, "not-found", "There is no such order of yours.");
  return { ...command, onBehalfOf: user, headers: { "Idempotency-Key": `create-order-${order}` }, body: { ...terms, order_id: order } };
}

async function payOf<C>(shop: Shop<C>, request: Request, user: string, order: string): Promise<Raw> {
  const headers = keyOf(request);
  const body = await jsonOf(request);
  const refused = others(body, "");
  if (refused.length > 0) throw new Refusal(422, "validation-failed", "A page may not set these members. Leave them out.", refused);
  const pay = body as unknown as Pay;
  return { ...command, onBehalfOf: user, headers, body: shop.pay ? await shop.pay(pay, user, order) : pay };
}

async function completeOf(request: Request, user: string): Promise<Raw> {
  const headers = keyOf(request);
  const { details, ...rest } = await jsonOf(request);
  if (Object.keys(rest).length > 0) throw new Refusal(422, "validation-failed", "Send details alone.", Object.keys(rest));
  return { ...command, onBehalfOf: user, headers, body: { details } };
}

/** The members that a page may not set. */
function others(value: object, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = prefix + name;
    if (setByPages.includes(path)) return [];
    const nested = isObject(member) && setByPages.some((known) => known.startsWith(path + "."));
    return nested ? others(member, path + ".") : [path];
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** The page's key: one made here would be another for each copy. */
function keyOf(request: Request): Record<string, string> {
  const key = request.headers.get("Idempotency-Key");
  if (!key) throw new Refusal(400, "idempotency-key-missing", "Send the header Idempotency-Key: one key for each intention of the customer.");
  return { "Idempotency-Key": key };
}

function attemptPath(query: URLSearchParams): string {
  const id = query.get("payment_attempt_id");
  if (!id) throw new Refusal(422, "validation-failed", "Name the payment_attempt_id in the query.", ["payment_attempt_id"]);
  return `/v1/payment-attempts/${encodeURIComponent(id)}`;
}

/** Gives the page paylatch's own response. Without one, or with the shop's token refused, the page repeats the request by itself, with its key. */
async function forward<C>(shop: Shop<C>, method: string, path: string, raw: Raw): Promise<Response> {
  let response: Response;
  try {
    response = await shop.paylatch.request(method, path, raw);
    if (response.status === 401) throw new Error(`paylatch refused the shop's token: ${await response.text()}`);
  } catch (error) {
    if (!raw.signal?.aborted) report(shop, error);
    throw new Refusal(502, "no-response", "The payment service can't be reached. Send the same request again with the same key.");
  }
  return new Response(response.body, { status: response.status, headers: { ...pick(response.headers, forwarded), "Cache-Control": "no-store" } });
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => headers.has(name) ? [[name, headers.get(name)!]] : []));
}

/** Whether a command comes from a page of another site. A request of no browser has neither header. */
function fromElsewhere({ method, headers, url }: Request, origins: readonly string[] = []): boolean {
  const site = headers.get("Sec-Fetch-Site"), origin = headers.get("Origin");
  if (method === "GET" || site === "same-origin" || site === "none" || (origin !== null && origins.includes(origin))) return false;
  if (site !== null) return true;
  return origin !== null && (!URL.canParse(origin) || new URL(origin).host !== (headers.get("Host") ?? new URL(url).host));
}

async function jsonOf(request: Request): Promise<Record<string, unknown>> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("Content-Type") ?? "")) {
    throw new Refusal(415, "unsupported-media-type", "Send application/json.");
  }
  const body = parse(new TextDecoder().decode(await bytesOf(request, maxBody)));
  if (!isObject(body)) throw new Refusal(400, "malformed-request", "Send a JSON object.");
  return body;
}

/** Reads a body of at most so many bytes. */
async function bytesOf(request: Request, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (!part?.value) break;
    length += part.value.length;
    if (length > most) throw new Refusal(413, "body-too-large", `Send at most ${most} bytes.`);
    chunks.push(part.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

type Reporting = { onError?: ((error: unknown) => void) | undefined };

function report({ onError = console.error }: Reporting, error: unknown): void {
  onError(error);
}

/** Turns a refusal into a problem document, and any other error into 500. */
async function guarded(to: Reporting, request: Request, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof Refusal)) report(to, error);
    const { status, code, message: detail, members } =
      error instanceof Refusal ? error : new Refusal(500, "internal", "The shop failed. Send the same request again with the same key.");
    const errors = members.map((field) => ({ field, message: detail }));
    const problem = {
      type: "about:blank", title: code, status, detail, code, request_id: request.headers.get("X-Request-Id") ?? "", retryable: status >= 500, safe_new_key: false,
      ...(status >= 502 ? { retry_after_ms: 1000 } : {}), ...(errors.length > 0 ? { errors } : {}),
    };
    const headers: Record<string, string> = { "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
    return new Response(JSON.stringify(problem), { status, headers: status >= 502 ? { ...headers, "Retry-After": "1" } : headers });
  }
}
