// Package allcells is what staff reads of several cells as if they were one.
//
//	a read ─► each cell's use case, at once, each with an entry in its own audit log ─► merged
//	                 └─ a cell that does not respond ─► left out, and named by a *parts.OmittedError beside what the others have
//
// A list has the order, the filters and the limits of one cell's; a page begins at a place that holds in all of them, or at one a cell
// (support.Merge). Counts and sums are added up. What names an id is not led here: package cells has it served by the cell of that. What
// would act on all that match a filter is refused, since it would act in one cell alone.
package allcells
