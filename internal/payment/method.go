package payment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// TokenKind says what a payment method's token is, as far as its form tells.
type TokenKind int

// The kinds of tokens. A single-use one is what a customer has just given for this one
// payment; a stored one can be charged by whoever knows it. Of TokenEither the
// provider knows which it is, and takes a stored one only with its customer.
const (
	TokenSingleUse TokenKind = iota
	TokenStored
	TokenEither
)

// Method is what an attempt is paid with. It is kept sealed for as long as the call may
// be sent again.
type Method struct {
	Token string `json:"token"`
	// Type is the provider's name for the sort of payment method; empty if not said.
	Type string `json:"type,omitempty"`
	// Stored says that the caller knows the token for that of a stored payment method.
	Stored bool `json:"stored,omitempty"`
	// Customer is whose it is at the provider.
	Customer string `json:"customer,omitempty"`
}

// SavedMethod is a payment method that the provider has stored for a later payment.
// Expires is YYYY-MM, or empty.
type SavedMethod struct {
	Token   string `json:"token"`
	Type    string `json:"type"`
	Display string `json:"display"`
	Expires string `json:"expires,omitempty"`
}

// Fits returns ErrUnfit, with which nothing is sent, for a charge whose token is of
// another kind than the caller says. Every adapter asks it first: what is stored is
// charged only together with the customer whose it is.
func (c Charge) Fits(kind TokenKind) error {
	if kind != TokenEither && c.Stored != (kind == TokenStored) {
		return fmt.Errorf("%w: stored is %t for a token that says otherwise", ErrUnfit, c.Stored)
	}
	return nil
}

// mayUse returns ErrForbidden unless the actor may pay with what a pay carries: only
// the merchant's backend knows whose a stored payment method is.
func (a Actor) mayUse(m Method) error {
	if m.Stored || m.Customer != string(a.User()) {
		return a.Require(RoleService)
	}
	return nil
}

// methodOf is what a pay is paid with.
func methodOf(actor Actor, cmd Pay) Method {
	return Method{Token: cmd.Token, Type: cmd.MethodType, Stored: cmd.Stored, Customer: cmp.Or(cmd.Customer, string(actor.User()))}
}

// checkMethod returns why a new pay can't be paid with a method, before anything of it
// is on disk: ErrStoredMethod, ErrMethodNotYours, a ValidationError, or
// ErrProviderUnavailable where nobody could be asked whose it is.
func (s *Service) checkMethod(ctx context.Context, p Provider, m Method) error {
	switch kind := p.TokenKind(m.Token); {
	case !m.Stored && kind == TokenStored:
		return ErrStoredMethod
	case !m.Stored:
		return nil
	case kind == TokenSingleUse:
		return invalid("payment_method.stored", "must be left out: this is not the token of a stored payment method")
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	switch err := p.CheckOwner(ctx, m.Token, m.Customer); {
	case err == nil, errors.Is(err, ErrMethodNotYours):
		return err
	case errors.Is(err, ErrNoSuchPayment):
		return ErrMethodNotYours
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrUnfit):
		return invalid("payment_method.token", "must be a stored payment method as this account's provider charges it")
	default:
		return fmt.Errorf("%w: ask whose a stored payment method is: %w", ErrProviderUnavailable, err)
	}
}

// sealMethod is the method as it is kept.
func (s *Service) sealMethod(m Method, id AttemptID) ([]byte, error) {
	if s.opts.Seal == nil {
		return nil, nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("seal the payment method of %s: %w", id, err)
	}
	return s.opts.Seal(string(text), id)
}

// method is what a charge needs to be sent again.
func (s *Service) method(a Attempt) (m Method, ok bool) {
	if s.opts.Open == nil {
		return Method{}, false
	}
	if len(a.SealedToken) > 0 {
		text, err := s.opts.Open(a.SealedToken, a.ID)
		if err == nil && json.Unmarshal([]byte(text), &m) == nil {
			return m, true
		}
	}
	return a.method, a.method.Token != ""
}
