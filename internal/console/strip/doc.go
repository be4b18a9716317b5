// Package strip draws pictures of payments as SVG. A strip shows the course of a payment; a bar shows the place of an order's
// money.
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
// It guarantees that no label covers another one or sticks out, and that each mark is drawn or counted. Shapes, patterns and
// words carry all information that colours carry. Colours are classes of strip.css, for light and dark, since the policy of
// the pages forbids inline styles. A strip is wider than a phone; its box scrolls by itself and takes the keyboard's focus.
//
// Time runs to the right, by the logarithm of the time between two marks: milliseconds and days are both readable. From a minute
// on there is a break in the axis, with its length.
package strip
