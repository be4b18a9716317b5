// Package request reads requests. All bodies share one bounded memory. A body must be JSON by the contract, without a card
// number in any member.
package request
