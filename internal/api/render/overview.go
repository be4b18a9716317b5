package render

import (
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// SupportOverview renders the business in numbers.
func SupportOverview(o overview.Overview) gen.SupportOverview {
	return gen.SupportOverview{
		At: gen.Micros(o.At), UncountedEvents: o.Uncounted, Hours: mapped(o.Hours, overviewHour),
		ApprovalByAccount: mapped(o.Accounts, func(a overview.Approval) gen.OverviewAccountApproval {
			return gen.OverviewAccountApproval{Account: a.Name, Day: share(a.Day), Week: share(a.Week), WeekBefore: share(a.Before)}
		}),
		ApprovalByCurrency: mapped(o.Currencies, func(a overview.Approval) gen.OverviewCurrencyApproval {
			return gen.OverviewCurrencyApproval{Currency: a.Name, Day: share(a.Day), Week: share(a.Week), WeekBefore: share(a.Before)}
		}),
		UnknownOutcomes: overviewUnknown(o.Unknown),
		Discrepancies: mapped(o.Cases, func(c overview.Cases) gen.OverviewDiscrepancies {
			return gen.OverviewDiscrepancies{Kind: c.Kind, Count: c.Count, OldestSeconds: int64(c.Oldest.Seconds())}
		}),
		Refunds: gen.OverviewRefunds{
			Succeeded: o.Refunds.Succeeded, Failed: o.Refunds.Failed, Pending: o.Refunds.Pending, Sums: mapped(o.Refunds.Sums, overviewMoney),
		},
		SilentAccounts: mapped(o.Silent, func(s intake.StaleAccount) gen.OverviewSilent {
			return gen.OverviewSilent{Account: s.Account, Pending: int64(s.Pending), Since: gen.Micros(s.Since), LastWebhookAt: microsOrNull(s.LastWebhookAt)}
		}),
		Accounts: mapped(o.Standing, func(s overview.Standing) gen.OverviewStanding {
			return gen.OverviewStanding{Account: s.Account, Breaker: gen.OverviewStandingBreaker(s.Breaker), Held: s.Held}
		}),
		Endpoints: mapped(o.Endpoints, overviewEndpoint),
	}
}

func overviewHour(h overview.Hour) gen.OverviewHour {
	return gen.OverviewHour{
		From: gen.Micros(h.From), Succeeded: h.Succeeded, Failed: h.Failed, Canceled: h.Cancelled, Volume: mapped(h.Volume, overviewMoney),
	}
}

func overviewMoney(m payment.Money) gen.OverviewMoney {
	return gen.OverviewMoney{Amount: m.Minor, Currency: string(m.Currency)}
}

func share(s overview.Share) gen.OverviewShare {
	out := gen.OverviewShare{Succeeded: s.Succeeded, Ended: s.Ended}
	if rate, ok := s.Rate(); ok {
		out.Rate = &rate
	}
	return out
}

func overviewUnknown(u overview.Unknown) gen.OverviewUnknown {
	out := gen.OverviewUnknown{Total: u.Total, Complete: !u.More, Ages: ages(u.Age)}
	if !u.Oldest.IsZero() {
		out.OldestAt = microsOrNull(&u.Oldest)
	}
	out.Accounts = mapped(u.Accounts, func(a overview.UnknownOf) gen.OverviewAccountUnknown {
		return gen.OverviewAccountUnknown{Account: a.Account, Ages: ages(func(b overview.Band) int64 { return a.Ages[b] })}
	})
	return out
}

func ages(of func(overview.Band) int64) gen.OverviewAges {
	return gen.OverviewAges{
		Under1M: of(overview.UnderMinute), Under10M: of(overview.UnderTenMinutes), Under1H: of(overview.UnderHour),
		Under1D: of(overview.UnderDay), Older: of(overview.Older),
	}
}

func overviewEndpoint(e overview.Endpoint) gen.OverviewEndpoint {
	state := "active"
	if e.Gone {
		state = "gone"
	}
	return gen.OverviewEndpoint{
		Name: e.Name, State: state, Behind: e.Behind, Retries: e.Retries, Dead: e.Dead, OldestUndeliveredSeconds: int64(e.Oldest.Seconds()),
	}
}
