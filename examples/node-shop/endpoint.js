import { once as happens } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver, createShop, toNode } from 'paylatch/server';
import { transaction } from './inbox.js';
import { act } from './stock.js';

// serve takes deliveries at POST /events and the checkout page's requests below /checkout/ until the signal is aborted, and then finishes those
// under way. An event is acknowledged once it is on disk with its effect, or was before.
export async function serve(pool, { paylatch, secrets, listen, signal }) {
  const events = toNode(createReceiver({ secrets, act: (event) => transaction(pool, (client) => act(client, event)) }));
  const checkout = toNode(createShop({ paylatch, user: signedIn, order: (user, id) => terms(pool, user, id) }));
  const server = createServer((request, response) => (request.url === '/events' ? events : checkout)(request, response));
  const at = new URL(`http://${listen}`);
  server.listen({ host: at.hostname, port: Number(at.port || 80) });
  await happens(server, 'listening');
  console.error('deliveries are taken at', listen);
  await new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', resolve, { once: true })));
  server.close();
  await happens(server, 'close');
}

// signedIn returns the customer by a header of the proxy that signs customers in. The proxy must remove such a header of a browser's; without a
// proxy use your session here.
const signedIn = (request) => request.headers.get('x-forwarded-user');

// terms returns what an order of a customer costs, or null.
async function terms(pool, user, id) {
  const { rows } = await pool.query('SELECT s.price FROM orders o JOIN stock s USING (sku) WHERE o.order_id = $1 AND o.customer = $2', [id, user]);
  return rows.length > 0 ? { amount: Number(rows[0].price), currency: 'EUR' } : null;
}
