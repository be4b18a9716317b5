import { setTimeout as pause } from 'node:timers/promises';
import { ProblemError } from 'paylatch/server';
import { transaction } from './inbox.js';
import { act, changesStock } from './stock.js';

const againAfter = 2_000; // milliseconds

// readFeed reads the feed until the signal is aborted. It throws at a refusal that no waiting ends, such as that of a token or of a cursor
// that has expired. Several may run: the inbox keeps them from acting twice.
export async function readFeed(pool, { paylatch, signal }) {
  console.error('the feed is read');
  while (!signal.aborted) {
    try {
      await read(pool, paylatch, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ProblemError && error.code && !error.retryable) throw error;
      console.error('reading is interrupted; it goes on from the stored cursor:', error.message);
      await pause(againAfter, undefined, { signal }).catch(() => {});
    }
  }
}

// read acts on events from the stored cursor on, until something fails. It reads all types: while none of a few comes, the cursor would
// stay behind, and expire.
async function read(pool, paylatch, signal) {
  const { rows } = await pool.query(`SELECT cursor FROM feed_cursors WHERE consumer = 'stock'`);
  let stored = rows[0]?.cursor ?? '';
  for await (const { event, cursor } of paylatch.readEvents(stored, { signal })) {
    if (cursor === stored && !changesStock(event)) continue; // there is nothing to write
    await take(pool, event, cursor);
    stored = cursor;
  }
}

// take acts on an event and stores the cursor with that, in one transaction: a process that dies goes on where it stopped.
function take(pool, event, cursor) {
  return transaction(pool, async (client) => {
    await act(client, event);
    await client.query(`INSERT INTO feed_cursors VALUES ('stock', $1) ON CONFLICT (consumer) DO UPDATE SET cursor = excluded.cursor`, [cursor]);
  });
}
