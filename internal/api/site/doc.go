// Package site serves what needs no token: the start page, the contract and its page, the pages of problems, the browser
// client.
package site
