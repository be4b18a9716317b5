// Package allcells shows staff several cells as if they were one.
//
//	a read ─► each cell's use case, at once, each with an entry in its own audit log ─► merged
//	                 └─ a cell that does not respond ─► left out, and named by a *parts.OmittedError beside the results of the others
//
// A list has the order, the filters and the limits of one cell's list. A page begins at one place for all cells, or at a place
// for each cell (support.Merge). Counts and sums are added up. Requests that name an id do not come here: package cells leads
// them to the id's cell. A command on all items that match a filter is refused, since it would act in one cell alone.
package allcells
