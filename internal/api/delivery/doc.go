// Package delivery receives providers' webhooks: verify, parse, hand to the intake, acknowledge. Unsigned deliveries have
// limits of their own.
package delivery
