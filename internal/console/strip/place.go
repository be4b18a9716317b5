package strip

import (
	"slices"
	"strings"
	"time"
)

// Track is a row of labels.
type Track int

// The rows of labels, from the top.
const (
	OfCustomer Track = iota
	OfPaylatch
	OfCalls
	OfCallsBeside
	OfProvider
	OfMoney
	OfAxis
	tracks
)

func trackOf(k Kind) Track {
	switch k {
	case Press, Repeat, Refused:
		return OfCustomer
	case Request, State, Review:
		return OfPaylatch
	case Call, Unanswered:
		return OfCalls
	case Webhook, Duplicate, Dispute:
		return OfProvider
	case MoneyIn, MoneyBack, Hold:
	}
	return OfMoney
}

// Label is a placed text: it begins at From and ends before To, and is written from the middle.
type Label struct {
	Track    Track
	Text     string
	From, To int
}

// Middle is the label's anchor.
func (l Label) Middle() int { return (l.From + l.To) / 2 }

// Placed is a mark with its place.
type Placed struct {
	Mark

	// Written is where the words are.
	Written Label

	// X is where the mark is; To, where a call ended.
	X, End int
}

// Tick is a text at the axis. A break is a stretch of time that is not to scale. Other ticks mark a time at X.
type Tick struct {
	Label

	X     int
	Break bool
}

// Drawing is a strip, placed.
type Drawing struct {
	Course Course
	Marks  []Placed
	Ticks  []Tick
	// End is the mark of the present state.
	End Placed
	// Left is how many marks are only counted.
	Left int
	// Width is that of the picture; Beside is set if calls were open at the same time.
	Width  int
	Beside bool
}

// point is a moment: the begin of a mark, or the end of a call.
type point struct {
	at   time.Time
	mark int
	end  bool
}

// Draw places the marks of a course.
func Draw(c Course) Drawing {
	marks, left := shown(c.Marks)
	c.End = plain(c.End)
	d := Drawing{Course: c, Left: left, Marks: make([]Placed, len(marks))}
	p := placing{Drawing: &d, x: leftmost}
	for i := range p.ends {
		p.ends[i] = leftmost - pad
	}
	for i, m := range marks {
		m.Label = plain(m.Label)
		d.Marks[i].Mark = m
	}
	for _, pt := range points(marks) {
		p.moment(pt)
	}
	p.finish()
	return d
}

const leftmost = left + pad

// points returns the moments of marks, oldest first. The beginning of a call comes before its end, even if both are at the same time.
func points(marks []Mark) []point {
	var all []point
	for i, m := range marks {
		all = append(all, point{at: m.At, mark: i})
		if m.lasts() {
			end := m.Until
			if end.Before(m.At) {
				end = m.At
			}
			all = append(all, point{at: end, mark: i, end: true})
		}
	}
	slices.SortStableFunc(all, func(a, b point) int { return a.at.Compare(b.at) })
	return all
}

// placing goes to the right, from moment to moment. It never moves a mark again.
type placing struct {
	*Drawing

	x  int
	at time.Time
	// since is the last clock at the axis.
	since time.Time
	ends  [tracks]int
}

// moment places the beginnings and ends at a moment, and its time at the axis if there is room.
func (p *placing) moment(pt point) {
	m := &p.Marks[pt.mark]
	clock, offset := p.advance(pt.at)
	if clock != "" {
		p.room(OfAxis, clock)
	}
	if pt.end {
		p.x = max(p.x, m.Written.To+inset)
		m.End = p.x
	} else {
		p.begin(m)
	}
	if clock == "" && offset != "" && p.x-half(offset) >= p.ends[OfAxis]+pad {
		clock = offset
	}
	if clock != "" {
		p.Ticks = append(p.Ticks, Tick{p.label(OfAxis, clock), p.x, false})
	}
}

// advance moves to a moment. It returns the clock that must stand there, at first and behind a break, or else the time since the
// last clock, which may.
func (p *placing) advance(to time.Time) (must, offset string) {
	d, first := to.Sub(p.at), p.at.IsZero()
	p.at = to
	switch {
	case first:
		p.since = to
		return clock(to, time.Time{}), ""
	case d >= breakAt:
		must = clock(to, p.since)
		p.since = to
		p.skip(length(d))
		return must, ""
	case d < time.Millisecond:
		return "", ""
	}
	p.x += gap(d)
	return "", "+" + length(to.Sub(p.since))
}

// skip draws a break in the axis.
func (p *placing) skip(text string) {
	from := max(p.x, p.ends[OfAxis]) + 2*pad
	l := Label{OfAxis, text, from, from + width(text)}
	p.Ticks = append(p.Ticks, Tick{l, l.Middle(), true})
	p.ends[OfAxis] = l.To
	p.x = l.To + 2*pad
}

// half is the larger half of a label's width.
func half(text string) int { return (width(text) + 1) / 2 }

// room moves to the right as far as a text needs.
func (p *placing) room(t Track, text string) { p.x = max(p.x, p.ends[t]+pad+half(text)) }

// label writes a text around the place, where it has room.
func (p *placing) label(t Track, text string) Label {
	from := p.x - half(text)
	l := Label{t, text, from, from + width(text)}
	p.ends[t] = l.To
	return l
}

// begin gives a mark its label and its place. The label of a call stands between its begin and its end.
func (p *placing) begin(m *Placed) {
	t, text := trackOf(m.Kind), m.words()
	if t != OfCalls {
		p.room(t, text)
		m.Written = p.label(t, text)
		m.X, m.End = p.x, p.x
		return
	}
	if p.open(OfCalls) {
		t, p.Beside = OfCallsBeside, true
	}
	p.x = max(p.x, p.ends[t]+pad)
	m.Written = Label{t, text, p.x + inset, p.x + inset + width(text)}
	m.X, p.ends[t] = p.x, m.Written.To
}

// open reports whether a call on a row has not ended yet.
func (p *placing) open(t Track) bool {
	return slices.ContainsFunc(p.Marks, func(m Placed) bool { return m.Written.Track == t && m.X > 0 && m.End == 0 })
}

// finish places the end, and closes the picture.
func (p *placing) finish() {
	const apart = 24
	p.x += apart
	if p.Course.End != "" {
		p.room(OfPaylatch, p.Course.End)
		p.End = Placed{Mark: Mark{Kind: State, Label: p.Course.End}, Written: p.label(OfPaylatch, p.Course.End)}
		p.End.X = p.x
	}
	p.Width = p.x + apart
	for _, end := range p.ends {
		p.Width = max(p.Width, end+pad)
	}
}

// Description is the picture in words: each mark that is drawn, oldest first.
func (d Drawing) Description() string {
	var parts []string
	for _, m := range d.Marks {
		parts = append(parts, m.At.UTC().Format("15:04:05")+" "+lanes[trackOf(m.Kind)]+m.words())
	}
	if d.Course.End != "" {
		parts = append(parts, "now: "+d.Course.End)
	}
	return strings.Join(parts, "; ") + "."
}

var lanes = map[Track]string{ //nolint:gochecknoglobals // a table
	OfCustomer: "customer: ", OfPaylatch: "paylatch: ", OfCalls: "call: ", OfProvider: "provider: ", OfMoney: "money: ",
}
