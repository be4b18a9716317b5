// Package chart draws numbers as small pictures in SVG, on the server: without scripts, and without inline styles, since the policy of
// the pages forbids them. A picture is for the eye; a table or a sentence beside it has the same numbers. Colour is never the only
// sign: failures are hollow, successes are filled.
package chart

import "strconv"

// Bar is two numbers, one on top of the other.
type Bar struct{ Filled, Hollow int64 }

// The size of the pictures, in units of their own. A page stretches them.
const (
	height = 60
	step   = 10
	width  = 7
)

// part is a rectangle of a bar.
type part struct{ x, y, height float64 }

func (p part) X() string      { return text(p.x) }
func (p part) Y() string      { return text(p.y) }
func (p part) Height() string { return text(p.height) }

func text(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// parts lays bars out, the highest as high as the picture. Every number above zero is visible.
func parts(list []Bar) (filled, hollow []part) {
	var most int64 = 1
	for _, b := range list {
		most = max(most, b.Filled+b.Hollow)
	}
	for i, b := range list {
		x, base := float64(i*step), float64(height)
		for _, one := range []struct {
			n    int64
			into *[]part
		}{{b.Filled, &filled}, {b.Hollow, &hollow}} {
			if one.n == 0 {
				continue
			}
			h := max(1.5, float64(one.n)/float64(most)*(height-4))
			base -= h
			*one.into = append(*one.into, part{x, max(0, base), h})
		}
	}
	return filled, hollow
}

func box(n int) string { return "0 0 " + strconv.Itoa(max(1, n*step)) + " " + strconv.Itoa(height) }
