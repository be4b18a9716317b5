package console

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console/strip"
	"github.com/paylatch/paylatch/internal/payment"
)

// The console's first page shows the business in numbers, and the matters that need attention. The page reads its numbers again
// by script. These reads do not keep a session alive, and they make at most one entry an hour in the audit log.

// TodayTitle is the name of the page.
const TodayTitle = "Today"

// Overview is the business in numbers; *overview.Service in the program.
type Overview interface {
	Overview(ctx context.Context, who support.Staff) (overview.Overview, error)
	Glance(ctx context.Context, who support.Staff) (overview.Overview, error)
}

// showToday shows the page in its frame.
func showToday(v *Visit, o Overview, f Frame, yesterday string) error {
	found, err := o.Overview(v.R.Context(), v.Who)
	if err = v.Left(err); err != nil {
		return err
	}
	f.Without = "" // stands beside the numbers
	return v.Show(todayPage(f, todayView{found, v.Without(), yesterday}))
}

// showTodayNumbers shows the numbers alone, to a page that is open. To others it leads to that page.
func showTodayNumbers(v *Visit, o Overview) error {
	if v.R.Header.Get("Hx-Request") == "" {
		http.Redirect(v.W, v.R, "/support", http.StatusSeeOther)
		return nil
	}
	found, err := o.Glance(v.R.Context(), v.Who)
	if err = v.Left(err); err != nil {
		return err
	}
	return v.Show(numbers(todayView{found, v.Without(), ""}))
}

// todayView is the content of the page.
type todayView struct {
	overview.Overview

	// Without names the data that is missing from the numbers, in words.
	Without string
	// Yesterday is the page of the day before today; empty in the numbers alone.
	Yesterday string
}

// total sums the hours up.
func (v todayView) total() (h overview.Hour) {
	volume := map[payment.Currency]int64{}
	for _, one := range v.Hours {
		h.Succeeded += one.Succeeded
		h.Failed += one.Failed
		h.Cancelled += one.Cancelled
		for _, m := range one.Volume {
			volume[m.Currency] += m.Minor
		}
	}
	h.Volume = inOrder(volume)
	return h
}

func (v todayView) bars() []strip.ChartBar {
	list := make([]strip.ChartBar, len(v.Hours))
	for i, h := range v.Hours {
		list[i] = strip.ChartBar{Filled: h.Succeeded, Hollow: h.Failed}
	}
	return list
}

// unusual lists the accounts with calls that are held back.
func (v todayView) unusual() (list []overview.Standing) {
	for _, s := range v.Standing {
		if s.Held || s.Breaker != overview.Closed {
			list = append(list, s)
		}
	}
	return list
}

// overall is the approval of all accounts.
func (v todayView) overall() overview.Approval {
	all := overview.Approval{Name: "All"}
	for _, a := range v.Accounts {
		all = all.Plus(a)
	}
	return all
}

// rates returns the rate of the day and the rate of the week before; the latter is below 0 if there is none to draw.
func rates(a overview.Approval) (rate, before float64) {
	rate, _ = a.Day.Rate()
	before, ok := a.Before.Rate()
	if !ok {
		before = -1
	}
	return rate, before
}
