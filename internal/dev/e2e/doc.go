// Package e2e holds the tests of the whole program: the binary as a user has
// it, in processes of its own, over HTTP, on a real PostgreSQL, beside the
// sandbox provider as another process. They may kill and freeze any of them.
package e2e
