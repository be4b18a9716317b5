// Package pipeline sends the queries of a transaction to PostgreSQL in few round trips.
//
//	tx := pipeline.New(ctx, conn, pipeline.Begin)
//	defer tx.Rollback(ctx)
//	err := tx.Pipeline(ctx, readOrder, readAttempts)  // BEGIN and both queries: one round trip
//	_, err = queries.Insert(ctx, tx.Deferred(), row)  // none yet
//	err = tx.Commit(ctx)                              // the insert and COMMIT: one round trip
//
// BEGIN travels with the first query, a deferred write with the next query or with COMMIT. The queries of one
// [Tx.Pipeline] travel together. All of them are prepared statements, run in their order. When a statement fails, the
// later ones are not run.
//
// Queries are functions over a [DB], such as sqlc generates. Their SQL and arguments are taken from the call itself, by a [Recorder].
package pipeline
