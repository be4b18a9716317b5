package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

type refundCmd struct {
	Create refundCreateCmd `cmd:"" help:"Refund a payment or a part of it."`
}

type refundCreateCmd struct {
	ID       string      `arg:"" help:"The payment attempt's id."`
	Reason   string      `required:"" help:"The reason, for the audit log."`
	Amount   *minorUnits `placeholder:"MINOR" help:"The amount, in minor units. Default: the whole refundable amount."`
	Expected *minorUnits `name:"expected-refundable" placeholder:"MINOR" help:"Refund nothing unless exactly this amount is refundable."`
	Data     jsonObject  `name:"provider-data" placeholder:"JSON" help:"Members of the provider's own request, as a JSON object. They are required for a payment that shares its money: they choose the accounts that bear the refund."`
	Key      string      `placeholder:"KEY" help:"The idempotency key. Repeated commands with the same key refund once. Default: a new key, which is printed."`
}

// minorUnits is an amount of the command line.
type minorUnits int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *minorUnits) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("must be a whole number of minor units, such as 1000 for 10.00; got %q", text)
	}
	*m = minorUnits(n)
	return nil
}

// jsonObject is an object of the command line.
type jsonObject struct{ members gateway.Data }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *jsonObject) UnmarshalText(text []byte) error {
	if err := json.Unmarshal(text, &o.members); err != nil || len(o.members) == 0 {
		return fmt.Errorf(`must be a JSON object with members, such as {"reverse_transfer":true}; it was %q`, text)
	}
	return nil
}

// Run makes the refund, and prints its state.
func (c *refundCreateCmd) Run(ctx context.Context, a *app) error {
	id, err := payment.ParseAttemptID(c.ID)
	if err != nil {
		return usageError{err}
	}
	if c.Key == "" {
		c.Key = uuid.NewString()
		_, _ = fmt.Fprintln(a.stderr, "the idempotency key is", c.Key)
	}
	key, err := idempotency.ParseKey([]string{c.Key})
	if err != nil {
		return usageError{err}
	}
	asked := []any{c.Amount, c.Expected}
	if c.Data.members != nil {
		asked = append(asked, c.Data.members)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	return withDesk(ctx, a, func(d desk) error {
		req := idempotency.Request{
			User: d.who.Subject, Endpoint: "paylatch refund create " + id.String(), Key: key,
			Hash: idempotency.HashRequest(http.MethodPost, "paylatch refund create", []string{id.String()}, nil, body),
			Refusal: func(err error) idempotency.Response {
				return idempotency.Response{Status: http.StatusConflict, Body: []byte(err.Error())}
			},
		}
		var made commands.RefundReply
		err := d.Act(ctx, d.who, support.Refunded, "attempt", id.String(), c.Reason, func() (err error) {
			// The reason stays in the audit log: a provider would show it to others.
			made, err = d.useCases.Refund(ctx, d.who.Actor, req, commands.CreateRefund{
				AttemptID: id, Amount: (*int64)(c.Amount), Expected: (*int64)(c.Expected), ProviderData: c.Data.members,
			})
			return err
		})
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(d.out, "Refund %s of %s is %s.\n", made.ID, amount.Of(made.Money), made.State)
		return nil
	})
}
