// Package imports takes payments of the past in, from a file of JSON lines, so that what a provider
// reports of them later finds an attempt.
//
//	line ─► parse ─► judge by what is stored ─► one transaction a batch ─► judge again, under locks ─► write
//
// A line is made once, however often the file is read: (order, user, client request) names it. Made
// attempts are final from the start, their amounts are sums of movements, and their log can be
// replayed. No provider is called and no merchant is told.
//
// Memory is that of one batch of lines. What a dry run would have made is kept in temporary tables of
// its session, or in memory where its role may make none, so that each line is compared with all before it, and nobody else sees any of it.
package imports
