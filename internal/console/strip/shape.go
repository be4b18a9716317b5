package strip

import (
	"strconv"
	"strings"
	"unicode"
)

// The lines of the lanes that are always at the same height.
const (
	customerLine = 30
	paylatchLine = 84
	// row is the height of a row of calls.
	row = 36
)

func (d Drawing) rows() int {
	if d.Beside {
		return 2
	}
	return 1
}

func (d Drawing) providerLine() int { return paylatchLine + row*d.rows() + 22 }

// money is where the triangles stand; their labels are below.
func (d Drawing) money() int { return d.providerLine() + 44 }

func (d Drawing) axis() int { return d.money() + 32 }

func (d Drawing) height() int { return d.axis() + 24 }

// bar is the top of the bars of a row.
func (d Drawing) bar(t Track) int { return d.baseline(t) + 5 }

// baseline is the height of a row's labels.
func (d Drawing) baseline(t Track) int {
	switch t {
	case OfCustomer:
		return customerLine - 14
	case OfPaylatch:
		return paylatchLine - 14
	case OfCalls:
		return paylatchLine + 20
	case OfCallsBeside:
		return paylatchLine + 20 + row
	case OfProvider:
		return d.providerLine() + 20
	case OfMoney:
		return d.money() + 15
	case OfAxis, tracks:
	}
	return d.axis() + 18
}

// end is where a call ended, wide enough to be seen; one that has not ended is as long as its label.
func (m Placed) end() int {
	if m.End == 0 {
		return m.Written.To
	}
	return max(m.End, m.X+3)
}

func classOf(k Kind) string {
	switch k {
	case Refused, Review:
		return "warn"
	case MoneyIn:
		return "in"
	case MoneyBack:
		return "back"
	case Press, Repeat, Request, State, Call, Unanswered, Webhook, Duplicate, Dispute, Hold:
	}
	return ""
}

func n(i int) string { return strconv.Itoa(i) }

// arrow is a line down or up, with a head at its end.
func arrow(x, from, to int) string {
	back := -5
	if to < from {
		back = 5
	}
	return "M" + n(x) + " " + n(from) + "V" + n(to) + "m-4 " + n(back) + "l4 " + n(-back) + "l4 " + n(back)
}

func cross(x, y, r int) string {
	return "M" + n(x-r) + " " + n(y-r) + "l" + n(2*r) + " " + n(2*r) + "m0 " + n(-2*r) + "l" + n(-2*r) + " " + n(2*r)
}

// triangle stands on its base, or, with a height below it, on its point.
func triangle(x, base, height int) string {
	return "M" + n(x-6) + " " + n(base) + "h12l-6 " + n(height) + "z"
}

func diamond(x, y int) string { return "M" + n(x) + " " + n(y-6) + "l6 6-6 6-6-6z" }

func zigzag(x, y int) string { return "M" + n(x-8) + " " + n(y) + "l4-5 4 10 4-10 4 5" }

// plain removes the characters that turn or hide the text around them, since an SVG has no bdi.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Cc) {
			return -1
		}
		return r
	}, text)
}

func plural(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
