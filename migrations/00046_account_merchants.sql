-- +goose Up
CREATE TABLE account_merchants (
    account     text NOT NULL,
    number      smallint NOT NULL CONSTRAINT account_merchants_number_counts CHECK (number >= 0),
    kind        text NOT NULL,
    live        boolean NOT NULL,
    ids         jsonb NOT NULL CONSTRAINT account_merchants_ids_known CHECK (jsonb_typeof(ids) = 'object'),
    credentials bytea NOT NULL,
    since       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT account_merchants_one_per_number PRIMARY KEY (account, number)
);

COMMENT ON TABLE account_merchants IS
    'The merchants that were behind each account. The one with the latest since is behind it now. It is replaced only while no '
    'payment of another one is open.';
COMMENT ON COLUMN account_merchants.live IS 'Test and live mode have different payments, so they count as different merchants.';
COMMENT ON COLUMN account_merchants.ids IS
    'The provider''s ids of the merchant, by the key of the configuration. Ids that the configuration or the provider names later are added.';
COMMENT ON COLUMN account_merchants.credentials IS 'A fingerprint of the account''s secrets, to see whether they changed.';

ALTER TABLE payment_attempts ADD COLUMN merchant smallint NOT NULL DEFAULT 0;

COMMENT ON COLUMN payment_attempts.merchant IS
    'The number of the account''s merchant under which the attempt was begun. Only this merchant is called about it.';

CREATE OR REPLACE TRIGGER payment_attempts_guard BEFORE UPDATE ON payment_attempts FOR EACH ROW WHEN (
    OLD.status <> 'pending' AND NEW.status <> OLD.status
    OR NEW.version < OLD.version
    OR (NEW.order_id, NEW.attempt_id, NEW.user_id, NEW.client_request_id, NEW.amount, NEW.currency, NEW.account, NEW.origin, NEW.merchant)
        IS DISTINCT FROM (OLD.order_id, OLD.attempt_id, OLD.user_id, OLD.client_request_id, OLD.amount, OLD.currency, OLD.account, OLD.origin, OLD.merchant)
) EXECUTE FUNCTION payment_attempts_guard();
