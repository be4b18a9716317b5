-- +goose NO TRANSACTION
-- +goose Up
-- Without a transaction each statement may be run again.
CREATE TABLE IF NOT EXISTS search_orders (
    order_id   text CONSTRAINT search_orders_pkey PRIMARY KEY,
    created_at timestamptz NOT NULL,
    words      text[] NOT NULL
);

COMMENT ON TABLE search_orders IS
    'What staff finds orders by, a copy that is made of them seconds later: no order and no pay waits for it. It can be emptied and is filled again once '
    'search_cursors is set back.';
COMMENT ON COLUMN search_orders.words IS
    'In lower case: the words of the description, of the values of the metadata and of the order''s id; the id itself after =, the user''s after @.';

CREATE INDEX IF NOT EXISTS search_orders_by_time ON search_orders (created_at, order_id COLLATE "C");
-- What waits in the list of pending entries is read by each search.
CREATE INDEX IF NOT EXISTS search_orders_by_word ON search_orders USING gin (words) WITH (gin_pending_list_limit = 256);

CREATE TABLE IF NOT EXISTS search_payments (
    attempt_id uuid CONSTRAINT search_payments_pkey PRIMARY KEY,
    order_id   text NOT NULL,
    day        date NOT NULL,
    amount     bigint NOT NULL,
    currency   text NOT NULL,
    created_at timestamptz NOT NULL,
    last_four  text NOT NULL DEFAULT '' CONSTRAINT search_last_four_are_digits CHECK (last_four ~ '^([0-9]{4})?$')
);

COMMENT ON TABLE search_payments IS 'As search_orders, of payment attempts: by amount and day, and by the end of the card''s number.';
COMMENT ON COLUMN search_payments.day IS 'That of created_at in UTC.';
COMMENT ON COLUMN search_payments.last_four IS 'As a webhook or a stored payment method shows them; empty where neither does.';

CREATE INDEX IF NOT EXISTS search_payments_by_amount ON search_payments (day, amount, currency, created_at, attempt_id);
CREATE INDEX IF NOT EXISTS search_payments_by_card ON search_payments (last_four, created_at, attempt_id) WHERE last_four <> '';

CREATE TABLE IF NOT EXISTS search_cursors (
    source text CONSTRAINT search_cursors_pkey PRIMARY KEY CONSTRAINT search_cursors_source_known CHECK (source IN ('orders', 'attempts', 'events')),
    at     timestamptz NOT NULL DEFAULT '0001-01-01 00:00:00+00',
    id     text NOT NULL DEFAULT ''
);

COMMENT ON TABLE search_cursors IS
    'How far each source was read for the search, by its time of creation and its id. Whoever adds rows of the past sets it back.';

INSERT INTO search_cursors (source) VALUES ('orders'), ('attempts'), ('events') ON CONFLICT DO NOTHING;

-- One that was broken off is there, and of no use.
DROP INDEX CONCURRENTLY IF EXISTS log_by_key;
CREATE INDEX CONCURRENTLY log_by_key ON attempt_log (key COLLATE "C") WHERE key <> '' AND kind IN ('press', 'reuse', 'refused');
