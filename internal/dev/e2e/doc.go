// Package e2e tests the whole program. The tests start the binary as a user has it, in processes of its own, over HTTP,
// on a real PostgreSQL, beside the sandbox provider as another process. They may kill and freeze any of them.
package e2e
