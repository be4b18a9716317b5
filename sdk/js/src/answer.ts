import type { Attempt, Problem } from "./types.js";

/** What an HTTP response means: an attempt, a problem, or (304) no news. */
export interface Answer {
  attempt?: Attempt;
  /** Only in the answers to pay. */
  token?: string;
  /** What the shop's backend adds to the answer to a pay: for the provider's script. */
  form?: object;
  problem?: Problem;
  retryAfter: string | null;
}

const passing = [408, 425, 429, 500, 502, 503, 504];

export async function read(response: Response): Promise<Answer> {
  const retryAfter = response.headers.get("Retry-After");
  if (response.status === 304) return { retryAfter };
  const body = parse(await response.text());
  if (response.ok && body && typeof body["payment_attempt_id"] === "string") {
    const { status_token: token, form, ...attempt } = body;
    const answer: Answer = { attempt: attempt as unknown as Attempt, retryAfter };
    if (typeof token === "string") answer.token = token;
    if (form && typeof form === "object") answer.form = form;
    return answer;
  }
  return { problem: problemOf(response, body), retryAfter };
}

export function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** A success that can't be read may hide anything, so it is asked again. */
function problemOf(response: Response, body: Record<string, unknown> | null): Problem {
  const problem: Problem = { code: "", retryable: response.ok || passing.includes(response.status), ...body, status: response.status };
  if (typeof problem.code !== "string") problem.code = "";
  return problem;
}
