// Package mapping turns rows into the domain's types and back. It runs no statement and has no state.
//
// A function that is named like a type of the domain (Attempt, Order, Event) reads rows. A function that is named like
// the parameters of a statement (AttemptsInsertParams) makes them. For a statement that takes many rows, it makes an
// array for each column.
package mapping
