package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// Numbers lists the cells; the cell of database_url is the first.
func (c *Config) Numbers() []payment.Cell {
	all := []payment.Cell{payment.OnlyCell}
	for _, of := range c.Cells {
		all = append(all, payment.Cell(of.Number)) //nolint:gosec // checked when it was read
	}
	return all
}

// Choice returns the numbers of the cells that a person can choose from, or nil if there is only one cell.
func (c *Config) Choice() (numbers []string) {
	if len(c.Cells) == 0 {
		return nil
	}
	for _, n := range c.Numbers() {
		numbers = append(numbers, strconv.Itoa(int(n)))
	}
	return numbers
}

// In returns the configuration of one cell, as of a service that has no other: its database, its accounts, and a folder of its own
// for the directory for files of this machine.
func (c *Config) In(n payment.Cell) *Config {
	in := *c
	in.Cell = n
	in.Accounts = slices.DeleteFunc(slices.Clone(c.Accounts), func(a Account) bool { return a.Cell != int(n) })
	for _, of := range c.Cells {
		if of.Number != int(n) {
			continue
		}
		in.DatabaseURL, in.Database.DirectURL, in.Database.ReadURL = of.DatabaseURL, of.DirectURL, of.ReadURL
		in.DefaultAccount = of.DefaultAccount
		in.DataDir = filepath.Join(c.DataDir, "cell-"+strconv.Itoa(of.Number))
	}
	return &in
}

// CellOf returns the cell of an account, of 0 if it is not configured.
func (c *Config) CellOf(account string) payment.Cell {
	for _, a := range c.Accounts {
		if a.Name == account {
			return payment.Cell(a.Cell) //nolint:gosec // checked when it was read
		}
	}
	return payment.OnlyCell
}

// CellOfOrder returns the cell of an order: the cell in the id if paylatch can have created the id, else the cell of its prefix.
func (c *Config) CellOfOrder(id string) payment.Cell {
	return c.CellMap().Of(payment.OrderID(id))
}

// CellMap returns the cells of order_prefixes and of the ids that paylatch creates.
func (c *Config) CellMap() payment.CellMap {
	m := payment.CellMap{}
	for _, of := range c.Cells {
		m[payment.OwnOrders(payment.Cell(of.Number))] = payment.Cell(of.Number) //nolint:gosec // checked when it was read
		for _, prefix := range of.OrderPrefixes {
			m[prefix] = payment.Cell(of.Number) //nolint:gosec // checked when it was read
		}
	}
	return m
}

// CellOfID returns the cell in an id that paylatch created. It returns 0 if the text is not such an id or its cell is not
// configured.
func (c *Config) CellOfID(text string) payment.Cell {
	id, err := uuid.Parse(text)
	if n := payment.CellOf(id); err == nil && slices.Contains(c.Numbers(), n) {
		return n
	}
	return payment.OnlyCell
}

// CellOfArgs returns the cell of the object in a command line: the account of --account, an order of --order, or an id of
// paylatch, which is an argument without a flag. It reports false if there is none. Flags are --name=value.
func (c *Config) CellOfArgs(args []string) (n payment.Cell, found bool) {
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch {
		case name == "--account":
			return c.CellOf(value), true
		case name == "--order":
			return c.CellOfOrder(value), true
		case uuid.Validate(arg) == nil:
			return c.CellOfID(arg), true
		}
	}
	return payment.OnlyCell, false
}
