package strip

import (
	"slices"
	"strings"
)

// Amounts are where an order's money is, in minor units of one currency. Amounts below zero count as zero.
type Amounts struct {
	// ID is that of the element, unique in its page.
	ID string
	// Asked is the price. Captured is the captured amount that was not reversed; Reversed is the reversed amount.
	Asked, Captured, Reversed int64
	// Refunded and Disputed are parts of the captured amount that were returned.
	Refunded, Disputed int64
	// Write returns an amount as people read it.
	Write func(minor int64) string
}

// price returns the place of the price in a bar of more than that, else 0.
func (a Amounts) price() int {
	if a.Asked <= 0 || a.taken() <= a.Asked {
		return 0
	}
	return max(thin, int(float64(a.Asked)/float64(a.whole())*barWidth))
}

// taken is the whole amount that was ever captured. whole is the length of the bar: the price or taken, whichever is more, and beyond.
func (a Amounts) taken() int64 { return max(0, a.Captured) + max(0, a.Reversed) }
func (a Amounts) whole() int64 { return max(a.Asked, a.taken()) + a.beyond() }

// back is the amount refunded and disputed. beyond is the part of back that exceeds the captured amount.
func (a Amounts) back() int64   { return max(0, a.Refunded) + max(0, a.Disputed) }
func (a Amounts) beyond() int64 { return max(0, a.back()-max(0, a.Captured)) }

// Left is the captured amount that the shop still has.
func (a Amounts) Left() int64 { return max(0, a.Captured-a.back()) }

// Part is a part of a bar, by its class and its word. A bar's parts stand side by side.
type Part struct {
	Class, Word string
	Minor       int64
	// X and Width are its place; both are 0 for a part that is only in the list.
	X, Width int
}

// barWidth is how wide a bar is, in units of its picture; barHeight is its height.
const (
	barWidth  = 600
	barHeight = 22
	thin      = 4
)

// Parts returns the parts that are not empty, from left to right: the captured amount, the reversed amount beyond it, and the rest of
// the price. Their sum is the price or all captured money, whichever is more, plus the amount returned beyond the captured amount.
func (a Amounts) Parts() []Part {
	all := []Part{
		{Class: "left", Word: "left", Minor: a.Left()},
		{Class: "refunded", Word: "refunded", Minor: a.Refunded},
		{Class: "disputed", Word: "charged back", Minor: a.Disputed},
		{Class: "reversed", Word: "reversed by the provider", Minor: a.Reversed},
	}
	all = append(all, Part{Class: "open", Word: "not captured", Minor: a.Asked - a.taken()})
	parts := make([]Part, 0, len(all))
	for _, p := range all {
		if p.Minor > 0 {
			parts = append(parts, p)
		}
	}
	spread(parts, a.whole())
	return parts
}

// spread gives parts of a whole their places. The smallest is thin and still visible; the largest makes room for it.
func spread(parts []Part, whole int64) {
	sum, largest := 0, 0
	for i := range parts {
		parts[i].Width = max(thin, int(float64(parts[i].Minor)/float64(whole)*barWidth))
		sum += parts[i].Width
		if parts[i].Minor > parts[largest].Minor {
			largest = i
		}
	}
	x := 0
	for i := range parts {
		if i == largest {
			parts[i].Width += barWidth - sum
		}
		parts[i].X = x
		x += parts[i].Width
	}
}

// sentence returns the bar in words: the captured amount with its parts, then the price, the reversed amount and the open amount.
func (a Amounts) sentence() string {
	within, beside := []string{}, []string{a.Write(max(0, a.Asked)) + " asked"}
	for _, p := range a.Parts() {
		text := a.Write(p.Minor) + " " + p.Word
		if p.Class == "reversed" || p.Class == "open" {
			beside = append(beside, text)
		} else {
			within = append(within, text)
		}
	}
	captured := a.Write(max(0, a.Captured)) + " captured"
	if len(within) > 0 {
		captured += ": " + strings.Join(within, ", ")
	}
	return strings.Join(slices.Insert(beside, 1, captured), "; ") + "."
}

// patterns returns the classes with a drawn pattern, and the lines of each pattern.
func patterns() [][2]string {
	return [][2]string{{"refunded", "M0 6 6 0"}, {"disputed", "M0 3h6M3 0v6"}, {"reversed", "M3 0v6"}}
}

func patterned(class string) bool { return class != "left" && class != "open" }
