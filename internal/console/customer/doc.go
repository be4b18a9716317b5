// Package customer is the console's page of one customer: all orders with their payments, newest first, what was charged and refunded, and
// whether the customer was charged twice.
//
// Two payments look alike where both were charged, or may have been, the same amount within ten minutes for different orders, or where both
// took money of one order. A hold and a payment of unknown outcome count: a customer sees those on the statement, too. The page asks, it
// does not decide: two tickets bought one after the other look the same.
package customer
