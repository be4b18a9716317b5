package strip

import "strconv"

// Bars and Rate draw numbers as small pictures in SVG, on the server: without scripts, and without inline styles, since the policy of
// the pages forbids them. A picture is for the eye; a table or a sentence beside it has the same numbers. Colour is never the only
// sign: failures are hollow, successes are filled.

// ChartBar is two numbers, one on top of the other.
type ChartBar struct{ Filled, Hollow int64 }

// The size of the pictures, in units of their own. A page stretches them.
const (
	height     = 60
	step       = 10
	chartWidth = 7
)

// chartPart is a rectangle of a bar.
type chartPart struct{ x, y, height float64 }

func (p chartPart) X() string      { return chartText(p.x) }
func (p chartPart) Y() string      { return chartText(p.y) }
func (p chartPart) Height() string { return chartText(p.height) }

func chartText(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// parts lays bars out, the highest as high as the picture. Every number above zero is visible.
func parts(list []ChartBar) (filled, hollow []chartPart) {
	var most int64 = 1
	for _, b := range list {
		most = max(most, b.Filled+b.Hollow)
	}
	for i, b := range list {
		x, base := float64(i*step), float64(height)
		for _, one := range []struct {
			n    int64
			into *[]chartPart
		}{{b.Filled, &filled}, {b.Hollow, &hollow}} {
			if one.n == 0 {
				continue
			}
			h := max(1.5, float64(one.n)/float64(most)*(height-4))
			base -= h
			*one.into = append(*one.into, chartPart{x, max(0, base), h})
		}
	}
	return filled, hollow
}

func box(n int) string { return "0 0 " + strconv.Itoa(max(1, n*step)) + " " + strconv.Itoa(height) }
