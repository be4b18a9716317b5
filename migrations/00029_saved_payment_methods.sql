-- +goose Up
ALTER TABLE payment_attempts ADD COLUMN saved_payment_method json;
COMMENT ON COLUMN payment_attempts.saved_payment_method IS
    'What the provider has stored of the payment method, with the token by which it can be charged again for the same customer.';
COMMENT ON COLUMN sealed_tokens.sealed IS
    'What the attempt is paid with, encrypted: token, kind and whose it is, for as long as the call may have to be made again.';
