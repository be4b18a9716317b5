// transaction runs fn in a transaction. When it returns, what fn wrote is on disk; when it throws, nothing of it is.
export async function transaction(pool, fn) {
  const client = await pool.connect();
  let broken;
  try {
    await client.query('BEGIN');
    await fn(client);
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers so, without an error, where a statement had failed before.
    if (command !== 'COMMIT') throw new Error(`the transaction ended by ${command}`);
  } catch (error) {
    await client.query('ROLLBACK').catch((e) => (broken = e));
    throw error;
  } finally {
    client.release(broken);
  }
}

// once runs fn unless the consumer has acted on the message before. The marker of that is committed with what fn writes. A second
// delivery that comes while the first is under way waits for the first one's transaction here.
export async function once(client, consumer, messageId, fn) {
  if (!messageId) throw new Error('a message without an id');
  const { rowCount } = await client.query(
    'INSERT INTO processed_messages (consumer, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [consumer, messageId],
  );
  if (rowCount > 0) await fn();
}
