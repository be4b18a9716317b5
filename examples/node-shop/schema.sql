-- What a shop keeps so that each event changes its stock once. Put it into a migration.

-- Pieces may fall below 0: an order that is paid is owed whether there is a piece or not, and its event can't be refused.
CREATE TABLE IF NOT EXISTS stock (
    sku    text   PRIMARY KEY,
    pieces int    NOT NULL,
    price  bigint NOT NULL DEFAULT 1999   -- in cents
);
INSERT INTO stock VALUES ('ticket', 100) ON CONFLICT DO NOTHING;

-- What is known of each order. A shop has a table like this one already, with a row from the closed basket on; here a row comes with the order's
-- first event at the latest.
CREATE TABLE IF NOT EXISTS orders (
    order_id           text    PRIMARY KEY,
    sku                text    NOT NULL DEFAULT 'ticket' REFERENCES stock,
    customer           text,                           -- who may pay it
    status             text    NOT NULL DEFAULT 'open',
    version            int     NOT NULL DEFAULT 0,     -- of the last event of the order that was applied
    amount             bigint,
    payment_attempt_id text,                           -- the attempt that paid it
    taken              boolean NOT NULL DEFAULT false  -- whether a piece is out of the stock for it
);

-- The sum of the refunds of each attempt: one may come before the order that it is of is known to be paid.
CREATE TABLE IF NOT EXISTS refunded (
    payment_attempt_id text   PRIMARY KEY,
    amount             bigint NOT NULL
);

-- Where the feed is read on.
CREATE TABLE IF NOT EXISTS feed_cursors (
    consumer text PRIMARY KEY,
    cursor   text NOT NULL
);

-- The events that were acted on: inbox.Schema of the Go package inbox.
CREATE TABLE IF NOT EXISTS processed_messages (
    consumer     text        NOT NULL,
    message_id   text        NOT NULL CHECK (message_id <> ''),
    processed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, message_id)
);

CREATE INDEX IF NOT EXISTS processed_messages_age ON processed_messages (processed_at);
