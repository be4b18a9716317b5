import type { Problem } from "./api.js";

/**
 * A refusal of paylatch (RFC 9457), with the members of its document. Decide by `code`, `retryable` and `safe_new_key`; `detail` is for people,
 * and so is the page at `type`. If the body was no problem document, such as a proxy's page, `code` is empty.
 */
export class ProblemError extends Error {
  override readonly name = "ProblemError";

  constructor(problem: Problem) {
    super(`paylatch: ${problem.status} ${problem.code}: ${problem.detail} (request ${problem.request_id})`);
    Object.assign(this, problem);
  }
}

export interface ProblemError extends Problem {}

/** The problem of a response that is no success. */
export function problemOf(response: Response, text: string): Problem {
  const document = parse(text) as Partial<Problem> | null;
  if (typeof document?.code === "string" && document.code) return { ...(document as Problem), status: response.status };
  return {
    type: "about:blank", title: "", status: response.status, detail: response.statusText || "the response is no problem document", code: "",
    request_id: response.headers.get("X-Request-Id") ?? "", retryable: response.status >= 500, safe_new_key: false,
  };
}

/** The object or array of a JSON text; null for anything else. */
export function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
