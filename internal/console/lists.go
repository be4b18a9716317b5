package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// ListPages shows payments, orders and refunds by the filters of the API's lists, a page at a time, newest first, and hands the same out
// as a file.
//
// Amounts are typed in major units, as people write them, and days as days of the shop's time zone. Each look, and each file, is in the audit log with its
// filter.

// ListReader is the lists for staff; *lists.Service of the API in the program.
type ListReader interface {
	Orders(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Order], error)
	Attempts(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.View], error)
	Refunds(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Refund], error)
}

// kind is one of the lists.
type kind struct {
	of                   lists.Kind
	path, title, nothing string
	action               support.Action
}

func payments() kind {
	return kind{lists.Attempts, "/support/payments", "Payments", "No payment matches.", "listPaymentAttempts.view"}
}

func listsOrders() kind {
	return kind{lists.Orders, "/support/orders", "Orders", "No order matches.", "listOrders.view"}
}

func refunds() kind {
	return kind{lists.Refunds, "/support/refunds", "Refunds", "No refund matches.", "listRefunds.view"}
}

// file is the path of the same list as CSV.
func (k kind) file() string { return k.path + ".csv" }

// Stages reports whether the list has a filter by stage.
func (k kind) Stages() bool { return k.of == lists.Attempts }

// noun names the objects of the list.
func (k kind) noun() string {
	if k.of == lists.Refunds {
		return "Refund"
	}
	return "Payment"
}

// listsRow is a line of a list.
type listsRow struct {
	At    time.Time
	Money payment.Money
	State string
	// Link is the path of the thing, and ID its id.
	Link, ID string
	Order    payment.OrderID
	User     payment.UserID
	Account  string
}

// listsView is the content of a page.
type listsView struct {
	Frame
	kind
	form

	Rows []listsRow
	// Zone is the name of the time zone of days.
	Zone string
	// Error describes the invalid filter; empty for a valid filter.
	Error   string
	Further string
}

// ListPages are the lists.
type ListPages struct {
	Lists ListReader
	// Zone is the time zone of days.
	Zone *time.Location
}

// Payments shows the payments.
func (p ListPages) Payments(v *Visit) error {
	return show(v, p.Zone, payments(), p.Lists.Attempts, paymentRow)
}

// Orders shows the orders.
func (p ListPages) Orders(v *Visit) error {
	return show(v, p.Zone, listsOrders(), p.Lists.Orders, orderRow)
}

// Refunds shows the refunds.
func (p ListPages) Refunds(v *Visit) error {
	return show(v, p.Zone, refunds(), p.Lists.Refunds, refundRow)
}

// PaymentsFile hands out payments as CSV, as the API does.
func (p ListPages) PaymentsFile(v *Visit) error {
	return file(v, p.Zone, payments(), p.Lists.Attempts, render.New(v.Now, 0).ForStaff().Attempt)
}

// OrdersFile hands out orders as CSV, as the API does.
func (p ListPages) OrdersFile(v *Visit) error {
	return file(v, p.Zone, listsOrders(), p.Lists.Orders, render.New(v.Now, 0).ForStaff().Order)
}

// RefundsFile hands out refunds as CSV, as the API does.
func (p ListPages) RefundsFile(v *Visit) error {
	return file(v, p.Zone, refunds(), p.Lists.Refunds, render.Refund)
}

// reader returns a page of a list.
type reader[T any] func(context.Context, authz.Actor, lists.Query) (lists.Page[T], error)

func show[T any](v *Visit, zone *time.Location, k kind, read reader[T], line func(T) listsRow) error {
	shown := listsView{Frame: v.Frame(k.title), kind: k, form: filter(v), Zone: zone.String()}
	q, err := shown.query(k.of, v.Query("cursor"), zone)
	if err != nil {
		status, text := RefusalText(err)
		shown.Error = text
		Render(v.W, v.R, status, listsPage(shown))
		return nil
	}
	found, err := watched(v, k, "filter", q, read)
	if err != nil {
		return err
	}
	for _, item := range found.Items {
		shown.Rows = append(shown.Rows, line(item))
	}
	shown.Further = v.Further(found.Next)
	return v.Show(listsPage(shown))
}

// filter is the form in the address.
func filter(v *Visit) form { return readForm(v.R.URL.Query()) }

func watched[T any](v *Visit, k kind, target string, q lists.Query, read reader[T]) (found lists.Page[T], err error) {
	err = v.AuditLog.Watch(v.R.Context(), v.Who, k.action, target, v.R.URL.RawQuery, func() (err error) {
		found, err = read(v.R.Context(), v.Who.Actor, q)
		return err
	})
	return found, err
}

// file writes all that match. The first page is read before the response begins; a later error ends the connection before the file's end.
func file[T, U any](v *Visit, zone *time.Location, k kind, read reader[T], shown func(T) U) error {
	q, err := filter(v).query(k.of, "", zone)
	if err != nil {
		return err
	}
	found, err := watched(v, k, "export", q.Whole(), read)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(k.file(), "/support/")
	v.W.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	cut := render.WriteExport(v.W, render.CSV, render.All(found.Items, shown), func() ([]U, bool, error) {
		if found.Next == "" || v.R.Method == http.MethodHead {
			return nil, false, nil
		}
		if found, err = read(v.R.Context(), v.Who.Actor, found.Then()); err != nil {
			return nil, false, err
		}
		return render.All(found.Items, shown), true, nil
	})
	if cut != nil && v.R.Context().Err() == nil {
		v.Log.Error().Err(cut).Str("request_id", v.R.Header.Get("X-Request-Id")).Msg("console: a file was cut off")
	}
	return nil
}

func paymentRow(p payment.View) listsRow {
	state := string(p.State)
	if p.Succeeded() && p.Returned() {
		state = stateNow(p.Attempt)
	}
	return listsRow{p.CreatedAt, p.Money, state, "/support/attempts/" + p.ID.String(), p.ID.String(), p.OrderID, p.UserID, p.Account}
}

func orderRow(o payment.Order) listsRow {
	account := ""
	if n := len(o.Attempts); n > 0 {
		account = o.Attempts[n-1].Account
	}
	return listsRow{o.CreatedAt, o.Money, string(o.Status()), OrderPath(o.ID), string(o.ID), o.ID, o.UserID, account}
}

func refundRow(r payment.Refund) listsRow {
	return listsRow{r.CreatedAt, r.Money, string(r.State), RefundLine(r.ID.String()).At(AttemptPath(r.AttemptID)), r.ID.String(), r.OrderID, r.UserID, r.Account}
}

// words returns a name of the contract as people read it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
