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
export declare function toNode<Incoming extends NodeRequest>(handler: Handler<Incoming>): NodeHandler<Incoming>;
