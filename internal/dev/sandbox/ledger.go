package sandbox

// move enters a movement of a charge's money and returns the entry's id.
func (t *tx) move(c *chargeRecord, m Record) string {
	m.EntryID, m.At = newID("le_"), Stamp(t.now)
	m.ChargeID, m.Reference, m.OrderID, m.Currency = c.ID, c.Reference, c.OrderID, c.Currency
	t.entry.Movements = append(t.entry.Movements, m)
	return m.EntryID
}

// movementBy is a movement of a call.
func movementBy(key string, kind Kind, amount int64) Record {
	return Record{Movement: Movement{Kind: kind, IdempotencyKey: key, Amount: amount}}
}
