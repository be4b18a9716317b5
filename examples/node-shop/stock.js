import { once } from './inbox.js';

// The types of events that change the stock. What a shop shows to people needs others; what it owes needs these alone.
const types = new Set(['order.paid', 'order.cancelled', 'refund.succeeded']);

// changesStock tells whether an event is to be acted on. Others are passed over, those of types that are yet to come included.
export const changesStock = (event) => types.has(event.type);

// act acts on an event unless that was done before. Acknowledge the event once the transaction is committed.
export async function act(client, event) {
  if (changesStock(event)) await once(client, 'stock', event.id, () => apply(client, event));
}

// apply writes down what an event states, and then settles the order. Events of one subject come in order, unless somebody has an old one
// delivered again; an order and its refunds are different subjects, and come in any order.
async function apply(client, { type, version, data }) {
  if (!data.order_id || (!data.payment_attempt_id && type !== 'order.cancelled')) {
    throw new Error('the event has no order_id, or no payment_attempt_id');
  }
  // Locks the order, so that its events are applied one after the other, and adds it where it is not there.
  await client.query('INSERT INTO orders (order_id) VALUES ($1) ON CONFLICT (order_id) DO UPDATE SET order_id = excluded.order_id', [data.order_id]);
  if (type === 'refund.succeeded') {
    // A sum needs the inbox: it can't tell that a refund is in it already.
    await client.query(
      `INSERT INTO refunded VALUES ($1, $2) ON CONFLICT (payment_attempt_id) DO UPDATE SET amount = refunded.amount + excluded.amount`,
      [data.payment_attempt_id, data.amount],
    );
  } else {
    // An older version than was applied changes nothing: a cancelled order may be paid after all, by money that was late, and its
    // cancellation may be delivered again after that.
    await client.query(
      'UPDATE orders SET status = $2, amount = $3, payment_attempt_id = $4, version = $5 WHERE order_id = $1 AND version < $5',
      [data.order_id, data.status, data.amount, data.payment_attempt_id, version],
    );
  }
  await settle(client, data.order_id);
}

// settle takes a piece out of the stock for an order that is paid, and returns it once the attempt that paid was refunded in full.
// Refunds of another attempt, to which the customer sent money as well, do not count.
async function settle(client, orderId) {
  const { rows } = await client.query(
    `UPDATE orders o SET taken = NOT taken WHERE order_id = $1 AND taken <> (status = 'paid' AND
       amount > coalesce((SELECT r.amount FROM refunded r WHERE r.payment_attempt_id = o.payment_attempt_id), 0)) RETURNING sku, taken`,
    [orderId],
  );
  for (const { sku, taken } of rows) {
    await client.query('UPDATE stock SET pieces = pieces + $2 WHERE sku = $1', [sku, taken ? -1 : 1]);
  }
}
