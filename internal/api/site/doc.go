// Package site serves the pages without a token: the start page, the contract and its page, the pages of problems, the browser
// client.
package site
