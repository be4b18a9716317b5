// Package strip draws pictures of payments as SVG: the strip, which is the course of a payment, and the bar, which is where an
// order's money is.
//
//	customer  ──●──◎────────────────────────  requests
//	paylatch  ────────────◇──────────────▣──  states, requests of the shop and of staff, the end
//	             ▭▭▭▭▭▭  ▨▨▨▨▨                calls: hatched without an answer
//	provider  ──────────────↑──↑────────────  webhooks: dashed again
//	            ▲ money in        ▼ money back
//	            12:00:00   +1 s   ⫽ 2 days
//
// It is pure: from marks to positions to elements. It imports nothing of the payments, so that any page can use it; package course
// makes marks of a payment.
//
// It guarantees that no label is written over another one or sticks out, and that each mark is drawn or counted, whatever the marks
// are. Shapes, patterns and words carry all that colours do, and colours are classes of strip.css, for light and dark: the policy of
// the pages forbids styles within them. A strip is wider than a phone; its box scrolls by itself and takes the keyboard's focus.
//
// Time runs to the right, and by the logarithm of what lies between two marks: milliseconds and days are both readable. From a minute
// on there is a break in the axis, with its length.
package strip
