// Package review has the discrepancies that a person must look at: their texts, their possible resolutions, and the
// effect of each resolution.
package review
