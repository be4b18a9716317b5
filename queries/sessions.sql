-- Reads a session that has not ended. Locks nothing.
-- name: SessionRead :one
SELECT data FROM sessions WHERE token = @token AND expiry > now();

-- Writes a session and locks its row. An ended session is empty and stays so, also if it ended while this statement waited for
-- the lock.
-- name: SessionWrite :exec
INSERT INTO sessions (token, data, expiry) VALUES (@token, @data, @expiry)
ON CONFLICT (token) DO UPDATE SET data = EXCLUDED.data, expiry = EXCLUDED.expiry WHERE sessions.data <> '';

-- Ends a session: at most one row. The row stays, empty, so that a request under way does not write the session again.
-- name: SessionEnd :exec
UPDATE sessions SET data = '', expiry = now() WHERE token = @token;

-- Deletes a limited number of sessions that ended so long ago that no request of theirs is under way.
-- name: SessionsPurge :execrows
DELETE FROM sessions WHERE token IN (
    SELECT token FROM sessions WHERE expiry <= now() - interval '1 hour' ORDER BY expiry LIMIT @most::int FOR UPDATE SKIP LOCKED
);
