-- +goose Up
ALTER TABLE payment_attempts
    ADD COLUMN split boolean NOT NULL DEFAULT false,
    ADD COLUMN capture_multiple boolean NOT NULL DEFAULT false;
ALTER TABLE operations
    ADD COLUMN has_data boolean NOT NULL DEFAULT false,
    ADD COLUMN final boolean NOT NULL DEFAULT false,
    ADD COLUMN captured_before bigint NOT NULL DEFAULT 0;

ALTER TABLE sealed_requests DROP CONSTRAINT sealed_requests_kind_carries;
ALTER TABLE sealed_requests ADD CONSTRAINT sealed_requests_kind_carries CHECK (kind IN ('charge', 'complete', 'capture', 'refund')) NOT VALID;
ALTER TABLE sealed_requests VALIDATE CONSTRAINT sealed_requests_kind_carries;

COMMENT ON COLUMN payment_attempts.split IS
    'The pay shared its money with other accounts at the provider: a refund must say who bears it.';
COMMENT ON COLUMN payment_attempts.capture_multiple IS
    'Beside capture_manual: the hold may be captured in several parts, also after the attempt succeeded.';
COMMENT ON COLUMN operations.final IS 'The last of several captures of a hold.';
COMMENT ON COLUMN operations.captured_before IS
    'The amount captured, reversed or not, before a capture began: it has its effect once its own amount is captured beside that.';
COMMENT ON COLUMN operations.has_data IS
    'A capture or refund with members of the provider''s own request. They are in sealed_requests. Without them it is not sent again.';
COMMENT ON TABLE sealed_requests IS
    'The encrypted content of a charge, complete, capture or refund for a resend, until the provider has answered, the attempt has '
    'ended or the resend window is over.';
COMMENT ON COLUMN sealed_requests.sealed IS
    'The content of the pay: payment token, customer, addresses, lines; or the data that the provider''s page returned; or the '
    'provider_data of a capture or refund.';
