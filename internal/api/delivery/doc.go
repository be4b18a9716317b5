// Package delivery receives providers' webhooks: verify, parse, hand to the intake, acknowledge. What is not signed has
// limits of its own.
package delivery
