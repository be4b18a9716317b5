// Package imports reads past payments from a file of JSON lines. Later reports of the provider about them then find
// an attempt.
//
//	line ─► parse ─► judge by the stored orders ─► one transaction a batch ─► judge again, under locks ─► write
//
// A line is made once, however often the file is read: (order, user, client request) names it. Made attempts are final from the
// start, their amounts are sums of movements, and their log can be replayed. No provider is called and no merchant is notified.
//
// Memory is that of one batch of lines. A dry run keeps its payments in temporary tables of its session, or in memory if its
// role may not create tables. So each line is compared with all lines before it, and no other session sees them.
package imports
