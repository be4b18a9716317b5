import { once as happens } from 'node:events';
import { createServer } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { transaction } from './inbox.js';
import { act } from './stock.js';

const maxBody = 1 << 20;

// serve takes deliveries of an endpoint at POST /events until the signal is aborted, and then finishes those under way.
export async function serve(pool, { secrets, listen, signal }) {
  if (secrets.length === 0) throw new Error('SHOP_SECRETS has no secret to verify by');
  const webhooks = secrets.map((secret) => new Webhook(secret));
  const server = createServer((request, response) => {
    take(pool, webhooks, request).then(
      () => response.writeHead(204).end(),
      (error) => {
        const status = error.status ?? 503; // the database is away, or the event can't be applied: paylatch delivers it again
        if (status >= 500) console.error('an event was not acted on; it comes again:', error.message);
        // A body that was not read to its end leaves nothing to read a next request from.
        response.writeHead(status, request.complete ? {} : { connection: 'close' }).end();
      },
    );
  });
  const at = new URL(`http://${listen}`);
  server.listen({ host: at.hostname, port: Number(at.port || 80) });
  await happens(server, 'listening');
  console.error('deliveries are taken at', listen);
  await new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', resolve, { once: true })));
  server.close();
  await happens(server, 'close');
}

// take resolves once the event is on disk with its effect, or was before.
async function take(pool, webhooks, request) {
  if (request.method !== 'POST' || request.url !== '/events') throw refused(404, 'there is nothing here');
  const event = verified(webhooks, request.headers, await body(request));
  await transaction(pool, (client) => act(client, event));
}

// verified returns the event of a genuine delivery. The signature is over the bytes of the body: JSON that was read and written anew
// has others. One good secret is enough.
function verified(webhooks, headers, raw) {
  for (const webhook of webhooks) {
    try {
      webhook.verify(raw, headers, { jsonParse: false });
    } catch (error) {
      if (error instanceof WebhookVerificationError) continue;
      throw error;
    }
    return read(raw, headers['webhook-id']);
  }
  throw refused(400, 'not genuine');
}

// read returns the event of a genuine body.
function read(raw, id) {
  let event;
  try {
    event = JSON.parse(raw.toString());
  } catch {
    throw refused(500, 'a genuine delivery is no JSON');
  }
  if (!id || event?.id !== id) throw refused(500, 'a genuine delivery has the id of another event');
  return event;
}

// body reads the bytes of a request, at most maxBody of them.
function body(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let length = 0;
    request.on('data', (chunk) => {
      length += chunk.length;
      if (length > maxBody) {
        request.pause();
        reject(refused(413, 'the body is too large'));
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => reject(refused(400, "the body can't be read")));
  });
}

const refused = (status, message) => Object.assign(new Error(message), { status });
