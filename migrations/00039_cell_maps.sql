-- +goose Up
CREATE TABLE cell_maps (
    epoch     bigint PRIMARY KEY CONSTRAINT cell_maps_epoch_positive CHECK (epoch > 0),
    number    integer NOT NULL CONSTRAINT cell_maps_number_known CHECK (number BETWEEN 0 AND 1023),
    prefixes  jsonb NOT NULL CONSTRAINT cell_maps_prefixes_known CHECK (jsonb_typeof(prefixes) = 'object'),
    opened_at timestamptz NOT NULL DEFAULT now(),
    closed_at timestamptz
);

COMMENT ON TABLE cell_maps IS
    'The number of this database''s cell, and the maps of order_id to cells that are in force: one open row, or several '
    'during a change. An order is created here only if every open map leads it here.';
COMMENT ON COLUMN cell_maps.prefixes IS 'The cell of each of order_prefixes. An order_id without one of them leads to cell 0.';
