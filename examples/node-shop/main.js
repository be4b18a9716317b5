// Keeps a shop's stock by the events of paylatch: a piece leaves it when an order is paid, and returns when the whole price was
// refunded. README.md has what to copy, and why. The same in Go: ../go-shop.
import { Paylatch } from 'paylatch/server';
import pg from 'pg';
import { serve } from './endpoint.js';
import { readFeed } from './feed.js';

const env = process.env;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

const paylatch = new Paylatch(env.PAYLATCH_URL || 'http://127.0.0.1:8080', env.PAYLATCH_TOKEN || '');
const pool = new pg.Pool({ connectionString: env.SHOP_DATABASE_URL, max: 10, connectionTimeoutMillis: 5_000, statement_timeout: 10_000 });
// Without a listener, the end of a connection that nothing uses would end the process.
pool.on('error', (error) => console.error('a connection has ended:', error.message));

// purge removes old markers. They are kept for longer than paylatch keeps events: none is delivered again whose marker is gone.
async function purge() {
  try {
    await pool.query(`DELETE FROM processed_messages WHERE processed_at < now() - interval '60 days'`);
  } catch (error) {
    console.error('old markers stay for another day:', error.message);
  }
}
purge();
const purging = setInterval(purge, 24 * 60 * 60 * 1000);

try {
  switch (env.SHOP_MODE || 'endpoint') {
    case 'endpoint':
      // A blank parts two secrets while one is replaced.
      await serve(pool, {
        paylatch,
        secrets: (env.SHOP_SECRETS || '').split(/\s+/).filter(Boolean),
        listen: env.SHOP_LISTEN || '127.0.0.1:3000',
        signal: stop.signal,
      });
      break;
    case 'feed':
      await readFeed(pool, { paylatch, signal: stop.signal });
      break;
    default:
      throw new Error(`SHOP_MODE must be endpoint or feed, and is ${env.SHOP_MODE}`);
  }
} catch (error) {
  console.error('the shop has ended:', error.message);
  process.exitCode = 1;
} finally {
  clearInterval(purging);
  await pool.end();
}
