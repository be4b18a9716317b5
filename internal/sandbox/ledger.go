package sandbox

func (t *tx) move(m movement) {
	m.EntryID, m.At = newID("le_"), stamp(t.now)
	t.entry.Movements = append(t.entry.Movements, m)
}
