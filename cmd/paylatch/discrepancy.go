package main

import (
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/terminal"
)

type discrepancyCmd struct {
	List    discrepancyListCmd    `cmd:"" help:"List discrepancies."`
	Resolve discrepancyResolveCmd `cmd:"" help:"Resolve a discrepancy after a check at the provider."`
}

type discrepancyResolveCmd struct {
	ID         string `arg:"" help:"The discrepancy's id."`
	Resolution string `required:"" enum:"paid,not_paid,refunded_elsewhere,accepted" help:"The resolution: paid, not_paid, refunded_elsewhere or accepted. Each kind of discrepancy allows some of them."`
	Reason     string `required:"" help:"The reason, for the audit log."`
	PaymentID  string `name:"provider-payment-id" placeholder:"ID" help:"The provider's id of the payment or refund, for the resolution paid."`
}

// Run resolves a discrepancy, or proposes the resolution if a second person has to confirm it.
func (c *discrepancyResolveCmd) Run(ctx context.Context, a *app) error {
	id, err := payment.ParseDiscrepancyID(c.ID)
	if err != nil {
		return usageError{err}
	}
	return withDesk(ctx, a, func(d desk) error {
		e, err := d.worklist.Resolve(ctx, d.who, worklist.Resolve{Resolve: commands.Resolve{
			ID: id, Resolution: payment.Resolution(c.Resolution), Reason: c.Reason, ProviderPaymentID: c.PaymentID,
		}})
		if err != nil {
			return err
		}
		if e.Awaits() {
			_, _ = fmt.Fprintln(d.out, awaits(e.Discrepancy))
			return nil
		}
		_, _ = fmt.Fprintf(d.out, "Discrepancy %s is resolved as %s.\n", e.ID, e.Resolved.Resolution)
		return nil
	})
}

// awaits returns the text of a proposed resolution.
func awaits(d payment.Discrepancy) string {
	resolution := string(d.Proposed.Resolution)
	if id := d.Proposed.ProviderPaymentID; id != "" {
		resolution += " with the provider payment id " + terminal.Visible(id)
	}
	return fmt.Sprintf("A second person must agree to this resolution. Discrepancy %s stays open until a second person resolves it as %s.", d.ID, resolution)
}

type discrepancyListCmd struct {
	All    bool   `help:"Include resolved discrepancies."`
	Kind   string `placeholder:"KIND" help:"List only discrepancies of this kind."`
	Limit  int    `default:"100" help:"List at most this many, 1 to 100 (${default})."`
	Cursor string `placeholder:"CURSOR" help:"Continue after this cursor, which the previous page printed."`
	JSON   bool   `help:"Print the API's response."`
}

// Run lists the worklist, newest first.
func (c *discrepancyListCmd) Run(ctx context.Context, a *app) error {
	page, err := support.ParsePage(c.Cursor, strconv.Itoa(c.Limit))
	if err != nil {
		return usageError{err}
	}
	return withDesk(ctx, a, func(d desk) error {
		status := "open"
		if c.All {
			status = ""
		}
		list, next, err := d.worklist.List(ctx, d.who, worklist.Filter{Status: status, Kind: c.Kind}, page)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.JSON(d.out, render.SupportDiscrepancies(list, next))
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(d.out, c.nothing())
			return err //nolint:wrapcheck // the error is complete
		}
		w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "OPENED (UTC)\tAGE\tSTATUS\tKIND\tAMOUNT\tABOUT\tID\tWHAT HAPPENED\tWHAT TO DO")
		for _, one := range list {
			amount := ""
			if one.Money != nil {
				amount = one.Money.String()
			}
			status, advice := "open", one.WhatToDo()
			if one.Resolved != nil {
				status, advice = "resolved as "+string(one.Resolved.Resolution), ""
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Time(one.At), one.Age().Round(time.Second), status, one.Kind, amount,
				terminal.Visible(about(one)), one.ID, terminal.Visible(one.Text), advice)
		}
		if next != "" {
			_, _ = fmt.Fprintln(w, "More discrepancies: --cursor "+next)
		}
		return w.Flush()
	})
}

// nothing returns the text of an empty list.
func (c *discrepancyListCmd) nothing() string {
	text := "Nothing"
	if c.All {
		text = "No discrepancy"
	}
	if c.Kind != "" {
		text += " of the kind " + c.Kind
	}
	if !c.All {
		text += " is waiting for a person"
	}
	return text + "."
}

// about returns the attempt, or the event, of a discrepancy.
func about(d worklist.Entry) string {
	switch {
	case d.AttemptID != nil:
		return "attempt " + d.AttemptID.String()
	case d.EventID != nil:
		return "event " + d.EventID.String()
	}
	return d.Event.ID
}
