// Package postgres keeps what package payment decides: it is the
// [payment.Store] over PostgreSQL 15 or newer.
//
// The promises rest on the schema (see migrations/): one live attempt an order,
// one attempt a request, one row an event are unique indexes, and what is final
// is guarded by triggers. The code here only turns rows into the domain's types
// and back; the SQL stands in queries/, the generated access to it in dbsqlc.
package postgres
