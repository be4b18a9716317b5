package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// stampedMAC is the scheme of Stripe and Paddle: a header with a time and one hex
// HMAC-SHA256 for each live secret, over the time and the raw body.
type stampedMAC struct {
	header string
	// between separates the header's elements; stamp and sum name those that count.
	between, stamp, sum string
	// joint stands between the time and the body in what is signed.
	joint  string
	keys   [][]byte
	window window
}

// stampedSums is what the header says: the time as it is written, which is what
// was signed, and the sums of the scheme.
type stampedSums struct {
	text string
	at   time.Time
	sums [][]byte
}

// match returns the index of the key that made one of the header's sums, at a
// time inside the window. The window is looked at last, so that a forgery is never
// called too old.
func (m stampedMAC) match(d Delivery) (int, error) {
	said, err := m.read(d.Header)
	if err != nil {
		return 0, err
	}
	index := matchMAC(sha256.New, m.keys, said.sums, []byte(said.text+m.joint), d.Body)
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d secrets matches", ErrSignatureInvalid, len(m.keys))
	}
	return index, m.window.check(said.at, d.ReceivedAt)
}

// sign sets the header, by the first key and with d.ReceivedAt as the time.
func (m stampedMAC) sign(d *Delivery) error {
	stamp, err := formatUnix(d.ReceivedAt)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(mac(sha256.New, m.keys[0], []byte(stamp+m.joint), d.Body))
	setHeader(d, m.header, m.stamp+"="+stamp+m.between+m.sum+"="+sum)
	return nil
}

// read takes a header that comes several times for one list. Sums that are not
// hex are left out.
func (m stampedMAC) read(h http.Header) (stampedSums, error) {
	values := headerValues(h, m.header)
	if len(values) == 0 {
		return stampedSums{}, fmt.Errorf("%w: header %s", ErrSignatureMissing, m.header)
	}
	stamp, sums, err := m.split(strings.Join(values, m.between))
	if err != nil {
		return stampedSums{}, err
	}
	at, err := parseUnix(stamp)
	if err != nil {
		return stampedSums{}, err
	}
	if len(sums) == 0 {
		return stampedSums{}, fmt.Errorf("%w: no %s in %s", ErrSignatureMissing, m.sum, m.header)
	}
	return stampedSums{stamp, at, decodeAll(sums, hex.DecodeString)}, nil
}

// split returns the time and the sums of the list. Elements of other names, which
// later schemes may add, are skipped.
func (m stampedMAC) split(list string) (stamp string, sums []string, err error) {
	for element := range strings.SplitSeq(list, m.between) {
		name, text, ok := strings.Cut(strings.TrimSpace(element), "=")
		switch {
		case !ok:
			return "", nil, fmt.Errorf("%w: element without = in %s", ErrSignatureMalformed, m.header)
		case name == m.stamp && stamp != "" && stamp != text:
			return "", nil, fmt.Errorf("%w: two times in %s", ErrSignatureMalformed, m.header)
		case name == m.stamp:
			stamp = text
		case name == m.sum && text != "":
			sums = append(sums, text)
		}
	}
	return stamp, sums, nil
}
