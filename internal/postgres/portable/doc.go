// Package portable has the tests of what lets a schema of any name be a cell: a database of its own, beside others on one server, or
// moved as a whole from one worker of Citus to another. The statements take their tables from the session's search_path, and locks
// and channels, of which a database has one set, bear the schema. TestStatements has the rules that Citus adds.
package portable
