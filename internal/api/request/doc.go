// Package request reads what callers send: bodies within the room that all of them share, JSON by the contract, and no
// card number in any member.
package request
