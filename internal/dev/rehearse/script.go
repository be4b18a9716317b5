package rehearse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// Script is what a customer does at one shop's checkout, and where its test provider lists the charges.
type Script struct {
	// Steps lead from the checkout's address to the button that pays.
	Steps []Step `yaml:"steps"`
	// Pay is the selector of the button that pays.
	Pay string `yaml:"pay"`
	// Then is done whenever the element is on a page after the payment began, as on the provider's page.
	Then []Step `yaml:"then"`
	// Success and Failure are the elements of a paid and of a failed order.
	Success Sight `yaml:"success"`
	Failure Sight `yaml:"failure"`
	// Request is a part of the host and path of the requests that pay. Without it, all commands to the checkout's host pay.
	Request string `yaml:"request"`
	// Limit bounds each wait for a page.
	Limit   time.Duration `yaml:"limit"`
	Charges Charges       `yaml:"charges"`
}

// Step is one act of the customer: one of Open, Press, Fill and Wait.
type Step struct {
	Open  string  `yaml:"open"`
	Press string  `yaml:"press"`
	Fill  string  `yaml:"fill"`
	Value *string `yaml:"value"`
	Wait  string  `yaml:"wait"`
	Text  string  `yaml:"text"`
}

// Sight is an element that a customer can see, with a part of its text.
type Sight struct {
	Show string `yaml:"show"`
	Text string `yaml:"text"`
}

// Charges is where the test provider's charges are counted: the JSON of an address or of a command's output.
type Charges struct {
	URL     string            `yaml:"url"`
	Header  map[string]string `yaml:"header"`
	Command []string          `yaml:"command"`
	// List is the path of the list, or of a number; empty for the whole JSON.
	List string `yaml:"list"`
	// Where selects items by the text of their members.
	Where    map[string]string `yaml:"where"`
	ID       string            `yaml:"id"`
	Amount   string            `yaml:"amount"`
	Currency string            `yaml:"currency"`
}

const defaultLimit = time.Minute

// keys are the keys of a mapping and of the mappings below; a nil value is not looked into.
type keys map[string]keys

func scriptKeys() keys {
	step := keys{"open": nil, "press": nil, "fill": nil, "value": nil, "wait": nil, "text": nil}
	sight := keys{"show": nil, "text": nil}
	return keys{
		"steps": step, "pay": nil, "then": step, "success": sight, "failure": sight, "request": nil, "limit": nil,
		"charges": {"url": nil, "header": nil, "command": nil, "list": nil, "where": nil, "id": nil, "amount": nil, "currency": nil},
	}
}

// Read reads a script in YAML or JSON. Its error lists all that is wrong.
func Read(r io.Reader) (*Script, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, fmt.Errorf("the script is not YAML: %w", err)
	}
	if err := errors.Join(scriptKeys().check(&node)...); err != nil {
		return nil, err
	}
	s := &Script{Limit: defaultLimit}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("the script: %w", err)
	}
	return s, errors.Join(s.invalid()...)
}

// check returns an error for each unknown key, with its line.
func (k keys) check(n *yaml.Node) (wrong []error) {
	if n.Kind != yaml.MappingNode {
		for _, item := range n.Content {
			wrong = append(wrong, k.check(item)...)
		}
		return wrong
	}
	known := slices.Sorted(maps.Keys(k))
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		below, there := k[name.Value]
		switch {
		case !there:
			wrong = append(wrong, fmt.Errorf("line %d: no such key: %s%s", name.Line, name.Value, config.Suggest(name.Value, known)))
		case below != nil:
			wrong = append(wrong, below.check(value)...)
		}
	}
	return wrong
}

func (s *Script) invalid() (wrong []error) {
	for name, steps := range map[string][]Step{"steps": s.Steps, "then": s.Then} {
		for i, step := range steps {
			err := step.invalid()
			if name == "then" && err == nil && (step.Open != "" || step.Wait != "") {
				err = errors.New("a step of then is press or fill")
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: number %d: %w", name, i+1, err))
			}
		}
	}
	if s.Pay == "" {
		wrong = append(wrong, errors.New("pay is missing: the selector of the button that pays, such as \"#pay\""))
	}
	if s.Success.Show == "" {
		wrong = append(wrong, errors.New("success.show is missing: the selector of an element that only a paid order shows"))
	}
	if s.Failure.Text != "" && s.Failure.Show == "" {
		wrong = append(wrong, errors.New("failure.show is missing: the selector of the element with failure.text"))
	}
	if s.Limit <= 0 {
		wrong = append(wrong, errors.New("limit must be above 0, such as 1m"))
	}
	if (s.Charges.URL == "") == (len(s.Charges.Command) == 0) {
		wrong = append(wrong, errors.New("charges needs either url or command: where the test provider's charges are listed as JSON"))
	}
	return wrong
}

func (s Step) invalid() error {
	acts := 0
	for _, act := range []string{s.Open, s.Press, s.Fill, s.Wait} {
		if act != "" {
			acts++
		}
	}
	switch {
	case acts != 1:
		return errors.New("a step is one of open, press, fill and wait")
	case (s.Fill != "") != (s.Value != nil):
		return errors.New("fill and value belong together")
	case s.Text != "" && s.Wait == "":
		return errors.New("text belongs to wait")
	}
	return nil
}

// again is the steps that a customer repeats on a page that was loaded anew: the last ones, without pages and buttons.
func (s *Script) again() []Step {
	last := 0
	for i, step := range s.Steps {
		if step.Open != "" || step.Press != "" {
			last = i + 1
		}
	}
	return s.Steps[last:]
}

// of is the script of one order: {{n}} is replaced by its number.
func (s *Script) of(n string) *Script {
	fill := strings.NewReplacer("{{n}}", n).Replace
	steps := func(from []Step) []Step {
		to := slices.Clone(from)
		for i := range to {
			to[i].Open = fill(to[i].Open)
			if to[i].Value != nil {
				to[i].Value = new(fill(*to[i].Value))
			}
		}
		return to
	}
	filled := *s
	filled.Steps, filled.Then = steps(s.Steps), steps(s.Then)
	filled.Charges.URL = fill(s.Charges.URL)
	filled.Charges.Command = slices.Clone(s.Charges.Command)
	for i, arg := range filled.Charges.Command {
		filled.Charges.Command[i] = fill(arg)
	}
	filled.Charges.Where = map[string]string{}
	for name, value := range s.Charges.Where {
		filled.Charges.Where[name] = fill(value)
	}
	return &filled
}
