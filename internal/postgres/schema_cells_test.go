package postgres_test

import "fmt"

func cellPromises() []promise {
	insert := func(epoch, number int, prefixes string) string {
		return fmt.Sprintf(`INSERT INTO cell_maps (epoch, number, prefixes) VALUES (%d, %d, '%s')`, epoch, number, prefixes)
	}
	return []promise{
		{
			name: "an epoch has one map", given: insert(1, 0, "{}"), breaks: insert(1, 0, "{}"),
			code: unique, constraint: "cell_maps_pkey", allowed: insert(2, 0, "{}"),
		},
		{
			name: "epochs begin with one", breaks: insert(0, 0, "{}"),
			code: check, constraint: "cell_maps_epoch_positive", allowed: insert(1, 0, "{}"),
		},
		{
			name: "a cell's number fits into an id", breaks: insert(1, 1024, "{}"),
			code: check, constraint: "cell_maps_number_known", allowed: insert(1, 1023, "{}"),
		},
		{
			name: "a map is by prefix", breaks: insert(1, 0, "[]"),
			code: check, constraint: "cell_maps_prefixes_known", allowed: insert(1, 0, `{"eu-": 1}`),
		},
	}
}
