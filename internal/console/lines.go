package console

import "net/url"

// Line is the name of a line in a page. It may contain any text from a caller; an address has it escaped.
type Line string

// RefundLine is the line of a refund.
func RefundLine(id string) Line { return Line("refund-" + id) }

// EventLine is that of a webhook.
func EventLine(id string) Line { return Line("event-" + id) }

// RequestLine is the line of the requests with an idempotency key.
func RequestLine(key string) Line { return Line("key-" + key) }

// At is the address of a line in the page at a path; without a line, of the page.
func (l Line) At(path string) string {
	if l == "" {
		return path
	}
	return path + "#" + (&url.URL{Fragment: string(l)}).EscapedFragment()
}
