import type { Handler } from "./shop.js";

/** As much of Node's and Express's request as is needed. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  /** Express: the address before a router took its part off. */
  originalUrl?: string;
  headers: Record<string, string | string[] | undefined>;
  complete: boolean;
  /** True once something has read the body. */
  readableDidRead: boolean;
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
}

/** As much of Node's and Express's response as is needed. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: Uint8Array): unknown;
  on(event: "close", listener: () => void): unknown;
}

/** A route of Express, and a listener of Node's http server. */
export type NodeHandler<Incoming extends NodeRequest> = (request: Incoming, response: NodeResponse, next?: (error?: unknown) => void) => void;

/**
 * Makes a handler a route of Express or a listener of Node's http server. Its context is the framework's own request: `user` of a shop reads the
 * session there. Mount it before a parser of bodies, such as `express.json()`: the signature of a delivery is over the bytes.
 */
export function toNode<Incoming extends NodeRequest>(handler: Handler<Incoming>): NodeHandler<Incoming> {
  return (request, response, next) => {
    answer(handler, request, response).catch((error: unknown) => {
      if (next) return next(error);
      console.error(error);
      response.statusCode = 500;
      response.end(new Uint8Array());
    });
  };
}

async function answer<Incoming extends NodeRequest>(handler: Handler<Incoming>, request: Incoming, response: NodeResponse): Promise<void> {
  if (request.readableDidRead) throw new Error("paylatch: something has read the body; mount toNode before express.json()");
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const { status, headers, body } = await handler(webRequest(request, gone.signal), request);
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  response.statusCode = status;
  headers.forEach((value, name) => response.setHeader(name, value));
  // A body that was not read to its end leaves nothing to read a next request from.
  if (!request.complete) response.setHeader("Connection", "close");
  response.end(bytes);
}

function webRequest(from: NodeRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(from.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && !name.startsWith(":")) headers.append(name, one);
  }
  const method = from.method ?? "GET";
  const url = new URL("http://" + (headers.get("Host") ?? "localhost") + (from.originalUrl ?? from.url ?? "/"));
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const chunks = from[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(to) {
      const { done, value } = await chunks.next();
      if (done) to.close();
      else to.enqueue(value);
    },
  });
  // Node wants this member where a body is a stream; the types of browsers do not have it.
  const init: RequestInit & { duplex: "half" } = { method, headers, signal, body, duplex: "half" };
  return new Request(url, init);
}
