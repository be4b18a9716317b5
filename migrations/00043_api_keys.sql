-- +goose Up
CREATE TABLE api_keys (
    api_key_id   uuid CONSTRAINT api_keys_pkey PRIMARY KEY,
    hash         bytea NOT NULL CONSTRAINT api_keys_one_per_hash UNIQUE,
    prefix       text NOT NULL,
    name         text NOT NULL CONSTRAINT api_keys_have_a_name CHECK (name <> ''),
    roles        text[] NOT NULL,
    scopes       text[] NOT NULL DEFAULT '{}',
    created_by   text NOT NULL CONSTRAINT api_keys_have_a_creator CHECK (created_by <> ''),
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    CONSTRAINT api_keys_hash_is_sha256 CHECK (octet_length(hash) = 32),
    CONSTRAINT api_keys_roles_known CHECK (cardinality(roles) > 0 AND roles <@ ARRAY['service', 'support', 'admin'])
);

COMMENT ON TABLE api_keys IS 'API keys that are valid, or have expired. A revoked key has no row: the audit log has its beginning and its end.';
COMMENT ON COLUMN api_keys.hash IS
    'The SHA-256 of the key. A key has 256 random bits, so nobody can guess a key that has this hash, and a slow hash is not needed.';
COMMENT ON COLUMN api_keys.prefix IS 'The first characters of the key, by which people recognise it.';
COMMENT ON COLUMN api_keys.scopes IS 'Empty for all that the roles may.';
COMMENT ON COLUMN api_keys.created_by IS 'The person whose key it is, for a comparison of two persons.';
COMMENT ON COLUMN api_keys.last_used_at IS 'Written at most once a minute.';
