package strip

import (
	"slices"
	"strconv"
	"time"
)

// Kind is the kind of a mark, and so its lane and its shape.
type Kind int

// The kinds of marks, by lane.
const (
	// Press is a first press by the customer, Repeat a repeated press, Refused a refused press.
	Press Kind = iota
	Repeat
	Refused
	// Request is a request of the shop or of staff, State a change of the payment's state, Review an open discrepancy.
	Request
	State
	Review
	// Call lasts from At until Until. Unanswered is a call without a usable response.
	Call
	Unanswered
	// Webhook is a webhook, Duplicate a webhook that was received before, Dispute an act at the provider.
	Webhook
	Duplicate
	Dispute
	// MoneyIn and MoneyBack move money, Hold only holds it.
	MoneyIn
	MoneyBack
	Hold
)

// Mark is one thing that happened.
type Mark struct {
	Kind Kind
	// At is when it happened; Until, when a call ended, zero for all others.
	At, Until time.Time
	// Label is a word or two. Text is the whole sentence, which a pointer shows.
	Label, Text string
	// Times is how often the same happened; 0 is once.
	Times int
}

func (m Mark) times() int { return max(1, m.Times) }

// lasts reports whether the mark has a length.
func (m Mark) lasts() bool { return m.Kind == Call || m.Kind == Unanswered }

// words returns the label, and how often.
func (m Mark) words() string {
	if m.times() == 1 {
		return m.Label
	}
	return m.Label + " ×" + strconv.Itoa(m.times())
}

// Tone is how a payment ended.
type Tone string

// The tones of an end. Open is of a payment that has not ended.
const (
	Open Tone = ""
	Good Tone = "good"
	Bad  Tone = "bad"
)

// Course is the content of a strip.
type Course struct {
	// ID is the id of the element, unique in its page.
	ID string
	// Title names the picture.
	Title string
	Marks []Mark
	// End is the state at the right end, in words.
	End  string
	Tone Tone
}

// Most is how many marks a strip shows; further ones are counted.
const Most = 40

// shown returns the marks to draw, oldest first, and the number of omitted marks. Equal marks in a row become one, at the place of the
// first. If there are too many, it omits checks, repeats and duplicates first, later marks before earlier ones.
func shown(all []Mark) (marks []Mark, left int) {
	marks = gathered(all)
	for drop := 2; len(marks) > Most && drop >= 0; drop-- {
		for i := len(marks) - 1; i > 0 && len(marks) > Most; i-- {
			if weight(marks[i].Kind) <= 2-drop {
				left += marks[i].times()
				marks = slices.Delete(marks, i, i+1)
			}
		}
	}
	return marks, left
}

// weight returns how much a mark matters to the story: 0 is left out first.
func weight(k Kind) int {
	switch k {
	case Repeat, Refused, Duplicate, Call:
		return 0
	case Webhook, Unanswered, Request, Dispute, Review:
		return 1
	case Press, State, MoneyIn, MoneyBack, Hold:
	}
	return 2
}

// gathered returns the marks in the order of time, with alike neighbours as one.
func gathered(all []Mark) []Mark {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Mark) int { return a.At.Compare(b.At) })
	marks := make([]Mark, 0, len(sorted))
	for _, m := range sorted {
		if n := len(marks); n > 0 && alike(marks[n-1], m) {
			last := &marks[n-1]
			last.Times = last.times() + m.times()
			continue
		}
		marks = append(marks, m)
	}
	return marks
}

// alike reports whether two neighbours may be one mark: money never is, its amounts would be hidden.
func alike(a, b Mark) bool {
	return a.Kind == b.Kind && a.Label == b.Label && weight(a.Kind) < 2
}
