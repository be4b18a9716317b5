// Package checkout has the routes of a shop's checkout, which the page's browser client calls, and the receiver of events.
//
// [New] returns the routes. The shop gives two functions: the signed-in customer, and the price of the customer's order.
//
//	routes, err := checkout.New(checkout.Shop{Client: c, User: sessions.User, Order: orders.Terms})
//	mux.Handle("/checkout/", http.StripPrefix("/checkout", routes))
//
// The routes act for the signed-in customer alone, so paylatch refuses the orders and attempts of others. The price is never the page's, and a page
// may set no more than a customer's own token could. A command from a page of another site is refused ([http.CrossOriginProtection]), so the
// session's cookie needs no token against that. Bodies have limits.
//
// [NewReceiver] returns the handler of deliveries.
package checkout
