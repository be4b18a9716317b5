// Package customer is the console's page of one customer: all orders with their payments, newest first, the charged and refunded amounts,
// and possible double charges.
//
// Two payments look alike if the same amount was charged, or may have been charged, within ten minutes for different orders, or if both
// took money for one order. A hold and a payment of unknown outcome count, since a customer sees them on the statement, too. The page only
// asks: two tickets bought one after the other look the same.
package customer
