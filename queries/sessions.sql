-- Reads a session that has not ended; locks nothing.
-- name: SessionRead :one
SELECT data FROM sessions WHERE token = @token AND expiry > now();

-- Writes a session, unless it has ended; locks its row. It may have ended while the lock was waited for: one that has is empty.
-- name: SessionWrite :exec
INSERT INTO sessions (token, data, expiry) VALUES (@token, @data, @expiry)
ON CONFLICT (token) DO UPDATE SET data = EXCLUDED.data, expiry = EXCLUDED.expiry WHERE sessions.data <> '';

-- Ends a session: at most one row. It stays, empty, so that a request that is still under way does not write the session anew.
-- name: SessionEnd :exec
UPDATE sessions SET data = '', expiry = now() WHERE token = @token;

-- Deletes at most that many sessions that have ended so long ago that no request of theirs is under way.
-- name: SessionsPurge :execrows
DELETE FROM sessions WHERE token IN (
    SELECT token FROM sessions WHERE expiry <= now() - interval '1 hour' ORDER BY expiry LIMIT @most::int FOR UPDATE SKIP LOCKED
);
