package render

import (
	"strconv"
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/events/endpoint"
)

// Endpoints renders how far endpoints are.
func Endpoints(list []endpoint.Status) gen.Endpoints {
	return gen.Endpoints{Items: mapped(list, func(s endpoint.Status) gen.Endpoint {
		out := gen.Endpoint{
			Name: s.Name, Host: s.Host, State: string(s.State), Behind: s.Behind, Retries: s.Retries, Dead: s.Dead,
			LastSuccessAt: microsOrNull(s.LastSuccess), LastFailureAt: microsOrNull(s.LastFailure), LastFailure: orNull(s.LastError),
			Cell: s.Cell,
		}
		if !s.Oldest.IsZero() {
			out.OldestUndeliveredAt = microsOrNull(&s.Oldest)
		}
		return out
	})}
}

// Deliveries renders a page of the log of attempts to deliver, with the cursor of the next where there may be one.
func Deliveries(list []endpoint.Attempt, limit int) gen.Deliveries {
	page := gen.Deliveries{Items: mapped(list, Delivery)}
	if len(list) == limit {
		page.NextCursor = new(strconv.FormatInt(list[limit-1].Number, 10))
	}
	return page
}

// Delivery renders an attempt to deliver.
func Delivery(a endpoint.Attempt) gen.Delivery {
	out := gen.Delivery{
		EventID: a.EventID.String(), At: gen.Micros(a.At), Delivered: a.Error == "", TookMs: a.Took.Milliseconds(), Error: orNull(a.Error),
	}
	if a.Status != 0 {
		out.Status = &a.Status
	}
	return out
}

func microsOrNull(at *time.Time) *gen.Micros { return (*gen.Micros)(at) }
