package postgres_test

import (
	"fmt"

	"github.com/google/uuid"
)

func markPromises() []promise {
	hold := func(changes string) string {
		return another("pay_holds", `{"held_at": "2026-01-02T00:00:00Z"`+changes+`}`)
	}
	const process = `INSERT INTO service_processes (process, name, server, beat_at) VALUES ('%s', 'p', '1/00000001', now())`
	const released = `, "released_at": "2026-01-03T00:00:00Z", "released_by": "x"`
	return []promise{
		{
			name: "there is one mark", breaks: `INSERT INTO service_marks DEFAULT VALUES`,
			code: unique, constraint: "service_marks_pkey", allowed: `UPDATE service_marks SET mark = mark + 1`,
		},
		{
			name: "there is no other mark", breaks: `INSERT INTO service_marks (one_row) VALUES (false)`,
			code: check, constraint: "marks_one_row", allowed: `UPDATE service_marks SET one_row = true`,
		},
		{
			name: "a process has one row", given: fmt.Sprintf(process, uuid.Nil), breaks: fmt.Sprintf(process, uuid.Nil),
			code: unique, constraint: "service_processes_pkey", allowed: fmt.Sprintf(process, uuid.Max),
		},
		{
			name: "an account is held once at a time", breaks: hold(""),
			code: unique, constraint: "pay_holds_one_open", allowed: hold(released),
		},
		{
			name: "a hold is one row", breaks: another("pay_holds", `{"released_at": "2026-01-03T00:00:00Z", "released_by": "x"}`),
			code: unique, constraint: "pay_holds_pkey", allowed: another("pay_holds", `{"account": "other"}`),
		},
		{
			name: "a hold's reason is a known one", breaks: hold(released + `, "reason": "rumour"`),
			code: check, constraint: "holds_reason_known", allowed: hold(released + `, "reason": "other_server"`),
		},
		{
			name: "a hold is released by something", breaks: hold(`, "released_at": "2026-01-03T00:00:00Z"`),
			code: check, constraint: "holds_released_how", allowed: hold(released),
		},
	}
}
