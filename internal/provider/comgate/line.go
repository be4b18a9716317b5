package comgate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the image has no time zones

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// These are types of a line. The other types are 3 (monthly fee), 4 (other fees, chargebacks and manual movements) and 5
// (the sum) (https://www.comgate.cz/cz/api-platebni-brany-comgate-pro-stahovani-souboru).
const (
	typePayment = "1"
	typeRefund  = "2"
)

// line maps the names of a transfer line's columns to values. https://help.comgate.cz/docs/cs/platby-a-vypisy lists the
// columns. Public clients use names with and without accents, and in two spellings ("ID ComGate" and "ID Comgate":
// README.md of a client in Ruby). Here the names are in lower case without accents.
type line map[string]string

//nolint:gochecknoglobals // a table
var plain = strings.NewReplacer("á", "a", "č", "c", "ď", "d", "é", "e", "ě", "e", "í", "i", "ň", "n", "ó", "o", "ř", "r", "š", "s", "ť", "t", "ú", "u", "ů", "u", "ý", "y", "ž", "z")

func lineOf(members map[string]json.RawMessage) line {
	l := line{}
	for name, value := range members {
		l[plain.Replace(strings.ToLower(name))] = strings.TrimSpace(text(value))
	}
	return l
}

// entries returns the entry of a payment or a refund. The entry of a refund has no final id yet: Movement.ID is the
// client's column. Lines of another shop or of another type have no entry.
func (l line) entries(merchant string, t transfer) ([]gateway.Entry, error) {
	kind, known := map[string]payment.MovementKind{typePayment: payment.MovementCapture, typeRefund: payment.MovementRefund}[l["typ"]]
	switch of := l["merchant"]; {
	case l["typ"] == "":
		return nil, errNameless
	case !known, of != "" && of != merchant:
		return nil, nil
	case l["id comgate"] == "":
		return nil, fmt.Errorf("transfer %s: %w", t.ID, errNameless)
	}
	e := gateway.Entry{
		ID: l["id comgate"], Payment: l["id comgate"], Payee: l["merchant"], Payout: t.ID.String(),
		Movement: payment.MovementReport{Kind: kind, At: local(t.day)},
	}
	var err error
	if kind == payment.MovementCapture {
		err = l.captured(&e)
	} else {
		err = l.refunded(&e)
	}
	if err != nil {
		return nil, fmt.Errorf("payment %s: %w", e.Payment, err)
	}
	return []gateway.Entry{e}, nil
}

// captured adds the captured amount, its time, and the transferred amount. It adds the fee if the fee is the difference
// of the two.
func (l line) captured(e *gateway.Entry) error {
	money, negative, err := l.money("potvrzena castka")
	if err != nil || negative {
		return errors.Join(errAmount, err)
	}
	e.Movement.Money, e.References = *money, references(l["id od klienta"])
	if net, negative, err := l.money("prevedena castka"); err == nil && !negative {
		e.Net = net
		fee, _, err := l.money("poplatek celkem")
		if err == nil && money.Minor-fee.Minor == net.Minor {
			e.Fee = fee
		}
	}
	if at := l["datum zaplaceni"]; at != "" {
		paid, err := time.Parse(time.DateTime, at)
		if err != nil {
			return fmt.Errorf("read when it was paid: %w", err)
		}
		e.Movement.At = local(paid)
	}
	return nil
}

// refunded adds the refunded amount. Comgate does not document the sign of a refund's amounts. So refunded reads the
// amount without its sign. It reads the net amount only if it is negative, and never the fee.
func (l line) refunded(e *gateway.Entry) error {
	money, _, err := l.money("potvrzena castka")
	if err != nil {
		return errors.Join(errAmount, err)
	}
	e.Movement.Money, e.Movement.ID = *money, l["id od klienta"]
	if net, negative, err := l.money("prevedena castka"); err == nil && negative {
		net.Minor = -net.Minor
		e.Net = net
	}
	return nil
}

var errAmount = errors.New("no confirmed amount")

// money returns an amount in the line's currency, without its sign. The decimal separator is a comma ("10,00") or a
// point.
func (l line) money(name string) (m *payment.Money, negative bool, err error) {
	amount, negative := strings.CutPrefix(strings.Replace(l[name], ",", ".", 1), "-")
	m, err = kit.ReadDecimal(amount, l["mena"])
	return m, negative, err
}

// prague is Comgate's time zone. It is documented for the days of transfers, but not for the times of a line.
//
//nolint:gochecknoglobals // read once
var prague = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("Europe/Prague")
	if err != nil {
		panic(err) // the program contains the time zones
	}
	return zone
})

// localDay returns the day in Comgate's time zone as its beginning in UTC.
func localDay(t time.Time) time.Time {
	year, month, day := t.In(prague()).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// local returns the time of Comgate's clock that shows the same digits as t does in UTC.
func local(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), 0, prague()).UTC()
}
