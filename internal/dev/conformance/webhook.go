package conformance

import (
	"context"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/provider/standard"
	"github.com/paylatch/paylatch/webhooks"
)

func webhookChecks() []check {
	const sign = "Sign as Standard Webhooks: webhook-signature is \"v1,\" and the base64 HMAC-SHA256 of \"id.timestamp.body\" with the decoded secret behind whsec_."
	return []check{
		{
			name: "webhook of a charge", after: checkCharge, needs: needsListener, do: webhookOfCharge,
			expects: "charge.succeeded, signed, with charge_id, reference, amount and currency, within --wait", remedy: sign,
		},
		{
			name: "webhook of a decline", after: "decline", needs: needsListener, do: webhookOfDecline,
			expects: "charge.failed, signed, with charge_id, reference, amount and currency, within --wait", remedy: sign,
		},
		{
			name: "webhook of a refund", after: checkRefund, needs: needsListener, do: webhookOfRefund,
			expects: "refund.succeeded, signed, with refund_id, charge_id, amount and currency, within --wait", remedy: sign,
		},
		{
			name: "webhook again", after: "webhook of a charge", needs: needsListener, do: webhookAgain,
			expects: "the delivery that was answered 503 again, with the same webhook-id and body, within --wait",
			remedy:  "Keep an event until it is answered 2xx, and send it again with a pause that grows; webhook-id stays, the time and the signature are new.",
		},
		{
			name: "webhooks signed", after: "webhook of a charge", needs: needsListener, do: webhooksSigned,
			expects: "no delivery without a signature by --webhook-secret", remedy: sign,
		},
	}
}

func needsListener(s *session) string {
	if s.received == nil {
		return "no --listen is given"
	}
	return ""
}

func webhookOfCharge(ctx context.Context, s *session) error {
	return s.hooked(ctx, *s.paid, webhooks.KindSucceeded, "charge.succeeded")
}

func webhookOfDecline(ctx context.Context, s *session) error {
	return s.hooked(ctx, *s.declined, webhooks.KindFailed, "charge.failed")
}

// hooked waits for an event of a charge and compares it.
func (s *session) hooked(ctx context.Context, c standard.Charge, kind webhooks.Kind, name string) error {
	e, err := s.received.wait(ctx, s.Wait, name, func(e webhooks.Event) bool { return e.Kind == kind && e.ProviderPaymentID == c.ID })
	if err != nil {
		return err
	}
	return must(e.ID != "" && slices.Contains(e.References, c.Reference) && e.Money != nil && e.Money.Minor == price && e.Money.Currency == s.Currency,
		"webhook-id %q, references %q, money %v", e.ID, e.References, e.Money)
}

func webhookOfRefund(ctx context.Context, s *session) error {
	e, err := s.received.wait(ctx, s.Wait, "refund.succeeded", func(e webhooks.Event) bool {
		return e.Kind == webhooks.KindRefundSucceeded && e.RefundID == s.refunded.ID
	})
	if err != nil {
		return err
	}
	return must(e.ProviderPaymentID != "" && e.Money != nil && e.Money.Minor == part && e.Money.Currency == s.Currency, "charge_id %q, money %v", e.ProviderPaymentID, e.Money)
}

func webhookAgain(ctx context.Context, s *session) error { return s.received.again(ctx, s.Wait) }

func webhooksSigned(_ context.Context, s *session) error {
	if refused := s.received.refusals(); len(refused) > 0 {
		return fmt.Errorf("%d deliveries, the first: %w", len(refused), refused[0])
	}
	return nil
}
