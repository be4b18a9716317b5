// Package cells routes each request to its cell. It is for a process that serves several databases; the object that a
// request names leads to the cell. In front of the API of each cell it needs no state of its own: a webhook's address
// names the account, an id contains its cell, and the prefix of an order_id that a merchant chose names the cell. An
// API of all cells serves requests that name no object (Desks has the reads of staff), and the router serves the feed.
package cells
