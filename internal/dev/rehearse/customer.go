package rehearse

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"
)

// customer pays one order in a browser.
type customer struct {
	*Script

	path, profile string
	checkout      *url.URL
	network       *network
	now           func() time.Time
	browser       *browser
	page          *page
	// address is the page with the button that pays.
	address string
	// pressed is how often the button that pays was pressed.
	pressed int
}

// End is the page's last word about the order.
type End string

// The ends of a page.
const (
	Paid   End = "paid"
	Failed End = "failed"
	Silent End = "silent"
)

const (
	// look is the time between two looks at a page.
	look = 200 * time.Millisecond
	// waits is how many looks a customer waits before the next act.
	waits = 15
	// again is how often a customer without an end acts again.
	again = 2
	// mostThen is how many acts the pages after the first press may need.
	mostThen = 20
)

// enter starts the browser and goes to the button that pays.
func (c *customer) enter(ctx context.Context) error {
	var err error
	if c.profile, err = os.MkdirTemp("", "paylatch-rehearse-"); err != nil {
		return fmt.Errorf("make the browser's profile: %w", err)
	}
	if err := c.startBrowser(ctx); err != nil {
		return err
	}
	if err := c.page.open(ctx, c.checkout.String()); err != nil {
		return err
	}
	for i, step := range c.Steps {
		if err := c.do(ctx, c.page, step); err != nil {
			return fmt.Errorf("steps: number %d: %w", i+1, err)
		}
	}
	if err := c.await(ctx, c.page, Sight{Show: c.Pay}, true); err != nil {
		return fmt.Errorf("pay: %w", err)
	}
	c.address, _ = c.page.words(ctx)
	return nil
}

func (c *customer) startBrowser(ctx context.Context) error {
	var err error
	if c.browser, err = startBrowser(ctx, c.path, c.profile, c.network.address); err != nil {
		return err
	}
	c.page, err = c.browser.newPage(ctx)
	return err
}

// leave ends the browser and removes its profile.
func (c *customer) leave() {
	if c.browser != nil {
		c.browser.kill()
	}
	_ = os.RemoveAll(c.profile) // a process of the browser may still write
}

// do does one step.
func (c *customer) do(ctx context.Context, p *page, step Step) error {
	switch {
	case step.Open != "":
		to, err := c.checkout.Parse(step.Open)
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		return p.open(ctx, to.String())
	case step.Wait != "":
		return c.await(ctx, p, Sight{step.Wait, step.Text}, false)
	case step.Press != "":
		if err := c.await(ctx, p, Sight{Show: step.Press}, true); err != nil {
			return err
		}
		return p.press(ctx, step.Press, 1)
	default:
		if err := c.await(ctx, p, Sight{Show: step.Fill}, true); err != nil {
			return err
		}
		return p.fill(ctx, step.Fill, *step.Value)
	}
}

// await waits until the page shows an element.
func (c *customer) await(ctx context.Context, p *page, s Sight, enabled bool) error {
	within, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	for {
		_, err := p.sees(within, s, enabled)
		if err == nil || errors.Is(err, errGone) {
			return err
		}
		if !pause(within, look) {
			address, text := p.words(ctx)
			return fmt.Errorf("%s: it is not on the page after %s, which is %s: %q", s.Show, c.Limit, address, text)
		}
	}
}

// pay clicks the button that pays, count times at once.
func (c *customer) pay(ctx context.Context, p *page, count int) error {
	c.pressed += count
	return p.press(ctx, c.Pay, count)
}

// refill repeats the last steps on a page that was loaded anew, as far as it has their elements.
func (c *customer) refill(ctx context.Context, p *page) {
	for _, step := range c.again() {
		if step.Fill == "" {
			continue
		}
		if _, err := p.sees(ctx, Sight{Show: step.Fill}, true); err == nil {
			_ = p.fill(ctx, step.Fill, *step.Value)
		}
	}
}

// insist waits for the end of the payment. After a wait in vain the customer tries the button again, if the page offers it, or
// loads a page again that can't be reached, at most so often.
func (c *customer) insist(ctx context.Context, p *page, often int) (End, error) {
	within, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	acts, since := 0, c.now()
	for end := Silent; ; {
		switch now, err := c.endOf(within, p); {
		case err != nil && !errors.Is(err, context.DeadlineExceeded):
			return Silent, err
		case now == Paid:
			return Paid, nil
		case err == nil:
			end = now
		}
		switch {
		case acts < mostThen && c.continues(within, p):
			acts++
			since = c.now()
		case c.now().Sub(since) < waits*look:
		case often > 0:
			acted, err := c.tryAgain(within, p)
			switch {
			case err != nil && within.Err() != nil && !errors.Is(err, errGone):
				return end, ctx.Err() //nolint:wrapcheck // it is nil but for an interruption
			case err != nil:
				return end, err
			case acted:
				often--
				since = c.now()
			case end == Failed:
				return Failed, nil
			default:
				since = c.now() // the form may need a moment after it was filled
			}
		case end == Failed:
			return Failed, nil
		}
		if !pause(within, look) {
			return end, ctx.Err() //nolint:wrapcheck // it is nil but for an interruption
		}
	}
}

// endOf is what the page shows of the order now.
func (c *customer) endOf(ctx context.Context, p *page) (End, error) {
	for _, at := range []struct {
		Sight

		end End
	}{{c.Success, Paid}, {c.Failure, Failed}} {
		_, err := p.sees(ctx, at.Sight, false)
		switch {
		case err == nil:
			return at.end, nil
		case errors.Is(err, errGone):
			return Silent, err
		case ctx.Err() != nil:
			return Silent, ctx.Err() //nolint:wrapcheck // it is the limit of the wait
		}
	}
	return Silent, nil
}

// continues does the steps of Then if the page shows their elements; it returns true after a press.
func (c *customer) continues(ctx context.Context, p *page) (acted bool) {
	for _, step := range c.Then {
		selector := step.Press + step.Fill
		if _, err := p.sees(ctx, Sight{Show: selector}, true); err != nil {
			continue
		}
		if step.Fill != "" {
			_ = p.fill(ctx, step.Fill, *step.Value)
			continue
		}
		_ = p.press(ctx, step.Press, 1)
		return true
	}
	return false
}

// tryAgain clicks the button that pays, or loads a page again that could not be loaded. It returns false if there is neither.
func (c *customer) tryAgain(ctx context.Context, p *page) (bool, error) {
	c.refill(ctx, p)
	if acted, err := c.payIfOffered(ctx, p); acted || err != nil {
		return acted, err
	}
	if address, _ := p.words(ctx); address == "chrome-error://chromewebdata/" {
		return true, p.reload(ctx)
	}
	return false, nil
}

// payIfOffered clicks the button that pays, if the page shows it, and reports whether it did. The page may lead elsewhere meanwhile.
func (c *customer) payIfOffered(ctx context.Context, p *page) (bool, error) {
	if _, err := p.sees(ctx, Sight{Show: c.Pay}, true); err != nil {
		return false, nil //nolint:nilerr // it is not offered
	}
	err := c.pay(ctx, p, 1)
	switch {
	case errors.Is(err, errGone) || ctx.Err() != nil:
		return false, errors.Join(err, ctx.Err())
	case err != nil:
		c.pressed--
	}
	return err == nil, nil
}

// pause waits; it returns false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
