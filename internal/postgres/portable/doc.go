// Package portable tests that a schema of any name can be a cell: a database of its own, beside others on one server, or
// moved as a whole from one worker of Citus to another. The statements take their tables from the session's search_path.
// A database has one set of locks and channels, so their names contain the schema. TestStatements has the additional
// rules of Citus.
package portable
