package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"

	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

// defaultFile is read when no file is named, if it exists.
const defaultFile = "paylatch.yaml"

// Load reads the configuration of the service: the file at path (or at PAYLATCH_CONFIG, or ./paylatch.yaml if it exists),
// overridden by the environment, in the form of os.Environ. Its error is of the type ValidationErrors.
func Load(path string, environ []string) (*Config, error) {
	c, r := read(path, environ, func(c *Config) {
		if c.Environment == "" {
			c.Environment = Live
		}
	})
	if !r.unread {
		r.service(c)
	}
	return c, r.err()
}

// Read is Load for a command that is not the service. Configured values must be valid, but keys that verify tokens and accounts
// may be missing. The function complete changes the configuration before the check; it may be nil.
func Read(path string, environ []string, complete func(*Config)) (*Config, error) {
	c, r := read(path, environ, complete)
	return c, r.err()
}

func read(path string, environ []string, complete func(*Config)) (*Config, *report) {
	values := environment(environ)
	r := &report{environ: values}
	k := koanf.New(".")
	var err error
	if r.file, r.content, err = file(path, values["PAYLATCH_CONFIG"]); err != nil {
		r.unread = true
		r.add("", "%v", err)
	}
	// Neither call can fail: errors of the parser and the provider go to the report.
	_ = k.Load(rawbytes.Provider(r.content), &parser{report: r, expand: expander(values, r)})
	_ = k.Load(overlay(values, r), nil)
	c := &Config{}
	decoder{r}.section(reflect.ValueOf(c).Elem(), k.Raw(), "")
	if complete != nil {
		complete(c)
	}
	c.settle()
	r.check(c)
	return c, r
}

// file returns the path and the content of the configuration file; the path is empty if there is no file.
func file(path, fromEnvironment string) (named string, content []byte, err error) {
	for _, named := range []string{path, fromEnvironment} {
		if named == "" {
			continue
		}
		content, err := os.ReadFile(named) //nolint:gosec // the operator names it
		if err != nil {
			return "", nil, fmt.Errorf("read the configuration: %w", err)
		}
		return named, content, nil
	}
	content, err = os.ReadFile(defaultFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case err != nil:
		return "", nil, fmt.Errorf("read the configuration: %w", err)
	}
	return defaultFile, content, nil
}

// settle fills in values that follow from other values.
func (c *Config) settle() {
	if len(c.Orders.CreatedBy) == 0 {
		c.Orders.CreatedBy = []string{"service"}
		if c.Environment == Dev {
			c.Orders.CreatedBy = []string{"service", "customer"}
		}
	}
	c.DefaultAccount = c.defaultOf(0, c.DefaultAccount)
	for i, of := range c.Cells {
		c.Cells[i].DefaultAccount = c.defaultOf(of.Number, of.DefaultAccount)
	}
}

// defaultOf returns the default account of a cell: the configured account, or the only account of the cell.
func (c *Config) defaultOf(n int, named string) string {
	if able := c.chargeable(n); named == "" && len(able) == 1 {
		return able[0]
	}
	return named
}

// chargeable lists the accounts of a cell that can charge and have an adapter.
func (c *Config) chargeable(n int) []string {
	var names []string
	for _, a := range c.Accounts {
		if a.Cell == n && a.CanCharge() && !a.uncalled() {
			names = append(names, a.Name)
		}
	}
	return names
}
