-- Reads a session that has not ended; locks nothing.
-- name: SessionRead :one
SELECT data FROM sessions WHERE token = @token AND expiry > now();

-- Writes a session; locks its row.
-- name: SessionWrite :exec
INSERT INTO sessions (token, data, expiry) VALUES (@token, @data, @expiry)
ON CONFLICT (token) DO UPDATE SET data = EXCLUDED.data, expiry = EXCLUDED.expiry;

-- Ends a session: at most one row.
-- name: SessionDelete :exec
DELETE FROM sessions WHERE token = @token;

-- Deletes at most that many sessions that have ended.
-- name: SessionsPurge :execrows
DELETE FROM sessions WHERE token IN (
    SELECT token FROM sessions WHERE expiry <= now() ORDER BY expiry LIMIT @most::int FOR UPDATE SKIP LOCKED
);
