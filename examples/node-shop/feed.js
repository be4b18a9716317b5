import { setTimeout as pause } from 'node:timers/promises';
import { transaction } from './inbox.js';
import { act, changesStock } from './stock.js';

// For how long a request waits for something new, in seconds, and after how many milliseconds it is given up.
const wait = 20;
const giveUp = 60_000;
const againAfter = 2_000;

// readFeed reads the feed until the signal is aborted. It throws at a refusal that no waiting ends, such as that of a token or of a cursor
// that has expired. Several may run: the inbox keeps them from acting twice.
export async function readFeed(pool, { url, token, signal }) {
  console.error('the feed is read');
  while (!signal.aborted) {
    try {
      await read(pool, { url, token, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error.fatal) throw error;
      console.error('reading is interrupted; it goes on from the stored cursor:', error.message);
      await pause(againAfter, undefined, { signal }).catch(() => {});
    }
  }
}

// read acts on events from the stored cursor on, until something fails. It reads all types: while none of a few comes, the cursor would
// stay behind, and expire.
async function read(pool, { url, token, signal }) {
  const { rows } = await pool.query(`SELECT cursor FROM feed_cursors WHERE consumer = 'stock'`);
  let cursor = rows[0]?.cursor ?? '';
  while (!signal.aborted) {
    const { items, next_cursor: next } = await page(url, token, cursor, signal);
    for (const [i, event] of items.entries()) {
      // The cursor is that of the whole page: a process that dies within it has some events again.
      const after = i === items.length - 1 ? next : cursor;
      if (after !== cursor || changesStock(event)) await take(pool, event, after);
    }
    cursor = next;
  }
}

// take acts on an event and stores the cursor with that, in one transaction: a process that dies goes on where it stopped.
function take(pool, event, cursor) {
  return transaction(pool, async (client) => {
    await act(client, event);
    await client.query(`INSERT INTO feed_cursors VALUES ('stock', $1) ON CONFLICT (consumer) DO UPDATE SET cursor = excluded.cursor`, [cursor]);
  });
}

// page reads a page of the feed. With nothing new it waits there, and resolves to one without items.
async function page(url, token, cursor, signal) {
  const query = new URLSearchParams({ wait: String(wait) });
  if (cursor) query.set('after', cursor);
  const response = await fetch(`${url}/v1/events?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(giveUp)]),
  });
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({})); // a proxy's page is no problem document
  const error = new Error(`${response.status} ${problem.code ?? ''}: ${problem.detail ?? ''}`);
  throw Object.assign(error, { fatal: problem.retryable === false });
}
