// Package cells leads requests to the cell in which lives what they name, where one process serves several databases. In front of the
// API of each cell it needs no state of its own: a webhook's address names the account, ids bear their cell, and an order_id that a
// merchant chose leads by how it begins. What names nothing is served by an API of all cells (package allcells has what staff reads there), and
// the feed by the router.
package cells
