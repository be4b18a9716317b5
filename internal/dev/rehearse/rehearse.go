package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// Ask is the options of the command line.
type Ask struct {
	Checkout string   `required:"" placeholder:"URL" help:"The address of the shop's checkout, in test mode. {{n}} in it becomes a number of its own for each order."`
	Script   string   `required:"" placeholder:"FILE" help:"What the customer does there, and where the test provider's charges are listed, in YAML or JSON."`
	Courses  []string `placeholder:"NAME,…" help:"Run these courses after plain. Default: all."`
	Browser  string   `placeholder:"PROGRAM" help:"The Chromium or Chrome. Default: the one in PATH."`
	JSON     bool     `name:"json" help:"Print one JSON object instead of sentences."`
}

// Options are the parts of a rehearsal.
type Options struct {
	Script   *Script
	Checkout string
	// Browser is the path of the program.
	Browser string
	Client  *http.Client
	Now     func() time.Time

	courses []course
}

const (
	// settles is how many readings of the list in a row must be equal before the charges count.
	settles = 10
	// comes is how many readings a first charge is awaited for.
	comes = 40
	// readEvery is the time between two readings.
	readEvery = 500 * time.Millisecond
)

// Options returns the parts of the rehearsal; its errors are usage errors.
func (a *Ask) Options(client *http.Client, now func() time.Time) (Options, error) {
	o := Options{Checkout: a.Checkout, Client: client, Now: now}
	if _, err := address(a.Checkout, "1"); err != nil {
		return o, err
	}
	var err error
	if o.courses, err = chosen(a.Courses); err != nil {
		return o, err
	}
	f, err := os.Open(a.Script)
	if err != nil {
		return o, fmt.Errorf("--script: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was read
	if o.Script, err = Read(f); err != nil {
		return o, fmt.Errorf("--script %s: %w", a.Script, err)
	}
	o.Browser, err = findBrowser(a.Browser)
	return o, err
}

// address is the checkout's address of one order.
func address(checkout, n string) (*url.URL, error) {
	u, err := url.Parse(strings.ReplaceAll(checkout, "{{n}}", n))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--checkout must be an http or https address")
	}
	return u, nil
}

// chosen are the first course and the named ones; all without a name.
func chosen(names []string) ([]course, error) {
	all := courses()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, c := range all {
		known = append(known, c.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--courses: there is no course %q, only %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(c course) bool { return c.name != all[0].name && !slices.Contains(names, c.name) }), nil
}

// Print runs the courses and prints each as it ends. It returns an error if an order was charged other than once.
func (a *Ask) Print(ctx context.Context, o Options, out io.Writer) error {
	p := &printer{out: out, json: a.JSON}
	err := Run(ctx, o, p.print)
	if err = errors.Join(err, p.sum()); err != nil {
		return err
	}
	if p.broken > 0 {
		return fmt.Errorf("%d of %d orders were not charged exactly once", p.broken, len(p.results))
	}
	return nil
}

// Run runs the courses one after the other and reports each as it ends.
func Run(ctx context.Context, o Options, report func(Result)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	checkout, err := address(o.Checkout, "1")
	if err != nil {
		return err
	}
	pays := o.Script.Request
	if pays == "" {
		pays = checkout.Host
	}
	way, err := newNetwork(ctx, pays, o.Now)
	if err != nil {
		return err
	}
	first := o.Now().Unix()
	for i, course := range o.courses {
		r, err := o.run(ctx, course, way, strconv.FormatInt(first+int64(i), 10))
		if err != nil {
			return fmt.Errorf("course %s: %w", course.name, err)
		}
		report(r)
		if i == 0 && !r.OK {
			return errors.New("without any fault the order was not charged exactly once, so the other courses show nothing: check the script")
		}
	}
	return nil
}

// run runs one course with an order of its own.
func (o Options) run(ctx context.Context, course course, way *network, n string) (Result, error) {
	script := o.Script.of(n)
	r := Result{Course: course.name, Story: course.story, Order: n}
	count := &counter{script.Charges, o.Client}
	before, err := count.read(ctx)
	if err != nil {
		return r, err
	}
	checkout, err := address(o.Checkout, n)
	if err != nil {
		return r, err
	}
	c := &customer{Script: script, path: o.Browser, checkout: checkout, network: way, now: o.Now}
	defer c.leave()
	way.breakBy()
	if err := c.enter(ctx); err != nil {
		return r, err
	}
	hold := faults.OpenHold()
	defer hold.Free()
	if course.faults != nil {
		way.breakBy(course.faults(hold)...)
	} else {
		way.breakBy()
	}
	if r.Page, err = course.run(ctx, c, hold); err != nil {
		return r, err
	}
	hold.Free()
	r.Pressed, r.Requests = c.pressed, way.arrived.Load()
	if r.Page == Silent {
		_, r.Text = c.page.words(ctx)
	}
	if r.Charges, err = settled(ctx, count, before); err != nil {
		return r, err
	}
	r.judge(course.faults != nil)
	return r, nil
}

// settled reads the list until the new charges have been the same for some time.
func settled(ctx context.Context, count *counter, before []Charge) ([]Charge, error) {
	same, last := 0, -1
	for reading := 0; ; reading++ {
		now, err := count.read(ctx)
		if err != nil {
			return nil, err
		}
		fresh := since(before, now)
		if len(fresh) != last {
			same, last = 0, len(fresh)
		}
		same++
		if same >= settles && (last > 0 || reading >= comes) {
			return fresh, nil
		}
		if !pause(ctx, readEvery) {
			return nil, ctx.Err() //nolint:wrapcheck // an interruption
		}
	}
}
