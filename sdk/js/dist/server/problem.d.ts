import type { Problem } from "./api.js";
/**
 * A refusal of paylatch (RFC 9457), with the members of its document. Decide by `code`, `retryable` and `safe_new_key`; `detail` is for people,
 * and so is the page at `type`. If the body was no problem document, such as a proxy's page, `code` is empty.
 */
export declare class ProblemError extends Error {
    readonly name = "ProblemError";
    constructor(problem: Problem);
}
export interface ProblemError extends Problem {
}
/** The problem of a response that is no success. */
export declare function problemOf(response: Response, text: string): Problem;
/** The object or array of a JSON text; null for anything else. */
export declare function parse(text: string): unknown;
