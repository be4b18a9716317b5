CREATE TABLE IF NOT EXISTS processed_messages (
    consumer     text        NOT NULL,
    message_id   text        NOT NULL CHECK (message_id <> ''),
    processed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, message_id)
);

CREATE INDEX IF NOT EXISTS processed_messages_age ON processed_messages (processed_at);
