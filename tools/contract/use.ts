// A pay by the generated client, with the types of the other generator: both must read the contract alike.
import { pay } from "./generated/client";
import type { operations } from "./generated/types";

type Attempt = operations["pay"]["responses"]["201"]["content"]["application/json"];
type Problem = operations["pay"]["responses"]["409"]["content"]["application/problem+json"];

export async function payOnce(orderID: string, key: string): Promise<Attempt | Problem | undefined> {
  const answer = await pay({
    path: { order_id: orderID },
    headers: { "Idempotency-Key": key, "On-Behalf-Of": "u1" },
    body: { payment_method: { token: "tok_success" }, return_url: "https://shop.example/back" },
  });
  const attempt: Attempt | undefined = answer.data;
  return attempt ?? answer.error;
}
