package read

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// StampedMAC is the scheme of Stripe and Paddle: a header with a time and one hex HMAC-SHA256 for each live secret,
// over the time and the raw body.
type StampedMAC struct {
	Header string
	// Between separates the header's elements; Stamp and Sum name those that count.
	Between, Stamp, Sum string
	// Joint stands between the time and the body in the signed text.
	Joint  string
	Keys   [][]byte
	Window Window
}

// stampedSums holds the header's values: the time as it is written, since this text was signed, and the sums of the
// scheme.
type stampedSums struct {
	text string
	at   time.Time
	sums [][]byte
}

// Match returns the index of the key that made one of the header's sums, at a time inside the window. The window is
// looked at last, so that a forgery is never called too old.
func (m StampedMAC) Match(d webhooks.Delivery) (int, error) {
	said, err := m.read(d.Header)
	if err != nil {
		return 0, err
	}
	index := Match(sha256.New, m.Keys, said.sums, []byte(said.text+m.Joint), d.Body)
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d secrets matches", webhooks.ErrSignatureInvalid, len(m.Keys))
	}
	return index, m.Window.Check(said.at, d.ReceivedAt)
}

// Sign sets the header, by the first key and with d.ReceivedAt as the time.
func (m StampedMAC) Sign(d *webhooks.Delivery) error {
	stamp, err := FormatUnix(d.ReceivedAt)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(MAC(sha256.New, m.Keys[0], []byte(stamp+m.Joint), d.Body))
	SetHeader(d, m.Header, m.Stamp+"="+stamp+m.Between+m.Sum+"="+sum)
	return nil
}

// read takes a header that comes several times for one list. Sums that are not hex are left out.
func (m StampedMAC) read(h http.Header) (stampedSums, error) {
	values := HeaderValues(h, m.Header)
	if len(values) == 0 {
		return stampedSums{}, fmt.Errorf("%w: header %s", webhooks.ErrSignatureMissing, m.Header)
	}
	stamp, sums, err := m.split(strings.Join(values, m.Between))
	if err != nil {
		return stampedSums{}, err
	}
	at, err := ParseUnix(stamp)
	if err != nil {
		return stampedSums{}, err
	}
	if len(sums) == 0 {
		return stampedSums{}, fmt.Errorf("%w: no %s in %s", webhooks.ErrSignatureMissing, m.Sum, m.Header)
	}
	return stampedSums{stamp, at, DecodeAll(sums, hex.DecodeString)}, nil
}

// split returns the time and the sums of the list. Elements of other names, which later schemes may add, are skipped.
func (m StampedMAC) split(list string) (stamp string, sums []string, err error) {
	for element := range strings.SplitSeq(list, m.Between) {
		name, text, ok := strings.Cut(strings.TrimSpace(element), "=")
		switch {
		case !ok:
			return "", nil, fmt.Errorf("%w: element without = in %s", webhooks.ErrSignatureMalformed, m.Header)
		case name == m.Stamp && stamp != "" && stamp != text:
			return "", nil, fmt.Errorf("%w: two times in %s", webhooks.ErrSignatureMalformed, m.Header)
		case name == m.Stamp:
			stamp = text
		case name == m.Sum && text != "":
			sums = append(sums, text)
		}
	}
	return stamp, sums, nil
}
