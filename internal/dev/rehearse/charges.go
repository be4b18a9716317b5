package rehearse

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Charge is one charge of the test provider, as the provider lists it.
type Charge struct {
	Amount   string `json:"amount,omitempty"`
	Currency string `json:"currency,omitempty"`

	id string
}

const (
	// maxList bounds the list of charges, in bytes.
	maxList = 64 << 20
	// listTimeout bounds one reading of the list.
	listTimeout = 30 * time.Second
)

// counter counts the new charges of a test provider.
type counter struct {
	Charges

	client *http.Client
}

// read lists the charges.
func (c *counter) read(ctx context.Context) ([]Charge, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	text, err := c.fetch(ctx)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var all any
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("the list of charges is not JSON: %w", err)
	}
	switch list := at(all, c.List).(type) {
	case []any:
		return c.items(list), nil
	case json.Number:
		n, err := strconv.Atoi(list.String())
		if err != nil || n < 0 || n > maxList {
			return nil, fmt.Errorf("charges.list %q is %s; it must be a list or a count", c.List, list)
		}
		charges := make([]Charge, n)
		for i := range charges {
			charges[i].id = strconv.Itoa(i)
		}
		return charges, nil
	default:
		return nil, fmt.Errorf("charges.list %q is neither a list nor a number in %.200s", c.List, text)
	}
}

func (c *counter) fetch(ctx context.Context) (string, error) {
	if len(c.Command) > 0 {
		cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...) //nolint:gosec // the script's own command
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("charges.command: %w", err)
		}
		return string(out), nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return "", fmt.Errorf("charges.url: %w", err)
	}
	for name, value := range c.Header {
		r.Header.Set(name, os.ExpandEnv(value))
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("charges.url: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return "", fmt.Errorf("charges.url: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("charges.url: %s: %.200s", resp.Status, body)
	}
	return string(body), nil
}

// items are the charges of a list that Where selects.
func (c *counter) items(list []any) []Charge {
	charges := []Charge{}
	for _, item := range list {
		if !c.selects(item) {
			continue
		}
		charge := Charge{Amount: textAt(item, c.Amount), Currency: textAt(item, c.Currency), id: textAt(item, c.ID)}
		if charge.id == "" {
			whole, _ := json.Marshal(item) //nolint:errchkjson // it was read from JSON
			charge.id = string(whole)
		}
		charges = append(charges, charge)
	}
	return charges
}

func (c *counter) selects(item any) bool {
	for path, want := range c.Where {
		if textAt(item, path) != want {
			return false
		}
	}
	return true
}

// since lists the charges that were not there before.
func since(before, now []Charge) []Charge {
	old := map[string]int{}
	for _, charge := range before {
		old[charge.id]++
	}
	fresh := []Charge{}
	for _, charge := range now {
		if old[charge.id]--; old[charge.id] < 0 {
			fresh = append(fresh, charge)
		}
	}
	return fresh
}

// at is the value at a path of names and positions, such as data.0.amount; nil if there is none.
func at(value any, path string) any {
	if path == "" {
		return value
	}
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// textAt is the text, number or boolean at a path; empty for no path and for anything else.
func textAt(value any, path string) string {
	if path == "" {
		return ""
	}
	switch v := at(value, path).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}
