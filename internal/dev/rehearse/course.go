package rehearse

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// course is one way to pay an order.
type course struct {
	name string
	// story is what the customer did, for a report.
	story string
	// faults happen to the requests that pay; hold is freed by run.
	faults func(hold *faults.Hold) []faults.Fault
	run    func(ctx context.Context, c *customer, hold *faults.Hold) (End, error)
}

// lateBy is how late the answers of the course "slow" are.
const lateBy = 10 * time.Second

// courses are all courses. The first one has no fault and must hold, or the others show nothing.
func courses() []course {
	return []course{
		{"plain", "The customer pressed the button once.", nil, plain},
		{"double press", "The customer pressed the button twice at once, and once more before the answer if the page offered it.", heldAnswer, doublePress},
		{"reload", "The customer loaded the page again while the answer was under way.", heldAndLost, reload},
		{"back", "The customer went back after the end, and pressed again if the page offered it.", nil, back},
		{"two tabs", "The customer pressed the button in one tab, and in a second tab before the first answer if it was offered there.", heldAnswer, twoTabs},
		{"answer lost", "The shop's answer was lost on its way to the browser.", lostAnswer, press},
		{"repeated", "A proxy sent each request that pays twice.", repeated, press},
		{"offline", "The browser lost its network while the answer was under way, and had it again later.", heldAndLost, offline},
		{"slow", "Each answer to a request that pays was 10 seconds late.", slow, press},
		{"killed", "The browser was killed while the answer was under way, and opened again on the page.", heldAnswer, killed},
	}
}

func anyRequest(*faults.Request) bool { return true }

// heldAnswer holds the answer to the first request: the shop has done it, and the browser waits.
func heldAnswer(hold *faults.Hold) []faults.Fault {
	return []faults.Fault{faults.When(faults.First(anyRequest), hold.After)}
}

// heldAndLost holds the answer to the first request, which then never arrives: the page was left, or has no network.
func heldAndLost(hold *faults.Hold) []faults.Fault {
	return []faults.Fault{faults.When(faults.First(anyRequest), func(on faults.Way) faults.Way { return faults.Lose(hold.After(on)) })}
}

func lostAnswer(*faults.Hold) []faults.Fault {
	return []faults.Fault{faults.When(faults.First(anyRequest), faults.Lose)}
}

func repeated(*faults.Hold) []faults.Fault { return []faults.Fault{faults.Repeat} }

func slow(*faults.Hold) []faults.Fault { return []faults.Fault{faults.Late(lateBy)} }

// plain is a customer that only waits.
func plain(ctx context.Context, c *customer, _ *faults.Hold) (End, error) {
	if err := c.pay(ctx, c.page, 1); err != nil {
		return Silent, err
	}
	return c.insist(ctx, c.page, 0)
}

// press is a customer that tries again if nothing happens.
func press(ctx context.Context, c *customer, _ *faults.Hold) (End, error) {
	if err := c.pay(ctx, c.page, 1); err != nil {
		return Silent, err
	}
	return c.insist(ctx, c.page, again)
}

// pressAndHold clicks the button and waits until the shop has answered and its answer is held.
func (c *customer) pressAndHold(ctx context.Context, hold *faults.Hold, count int) error {
	if err := c.pay(ctx, c.page, count); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	select {
	case <-hold.Reached():
	case <-within.Done(): // the report has that no request came
	}
	return ctx.Err() //nolint:wrapcheck // it is nil but for an interruption
}

func doublePress(ctx context.Context, c *customer, hold *faults.Hold) (End, error) {
	if err := c.pressAndHold(ctx, hold, 2); err != nil {
		return Silent, err
	}
	if _, err := c.payIfOffered(ctx, c.page); err != nil {
		return Silent, err
	}
	hold.Free()
	return c.insist(ctx, c.page, again)
}

func reload(ctx context.Context, c *customer, hold *faults.Hold) (End, error) {
	if err := c.pressAndHold(ctx, hold, 1); err != nil {
		return Silent, err
	}
	if err := c.page.reload(ctx); err != nil {
		return Silent, err
	}
	pause(ctx, waits*look) // the browser begins to load after its answer to the call
	hold.Free()
	return c.insist(ctx, c.page, again)
}

func back(ctx context.Context, c *customer, hold *faults.Hold) (End, error) {
	end, err := press(ctx, c, hold)
	if err != nil {
		return end, err
	}
	if err := c.page.back(ctx, -1); err != nil {
		return end, err
	}
	for range waits {
		if !pause(ctx, look) {
			return end, ctx.Err() //nolint:wrapcheck // an interruption
		}
		c.refill(ctx, c.page)
		if acted, err := c.payIfOffered(ctx, c.page); err != nil {
			return end, err
		} else if acted {
			return c.insist(ctx, c.page, again)
		}
	}
	if err := c.page.back(ctx, 1); err != nil {
		return end, err
	}
	return c.insist(ctx, c.page, again)
}

func twoTabs(ctx context.Context, c *customer, hold *faults.Hold) (End, error) {
	other, err := c.browser.newPage(ctx)
	if err != nil {
		return Silent, err
	}
	if err := other.open(ctx, c.address); err != nil {
		return Silent, err
	}
	if err := c.await(ctx, other, Sight{Show: c.Pay}, true); err != nil {
		return Silent, err
	}
	c.refill(ctx, other)
	if err := c.pressAndHold(ctx, hold, 1); err != nil {
		return Silent, err
	}
	if _, err := c.payIfOffered(ctx, other); err != nil {
		return Silent, err
	}
	hold.Free()
	end, err := c.insist(ctx, c.page, again)
	if err != nil {
		return end, err
	}
	if second, err := c.insist(ctx, other, again); err != nil || second != end {
		return second, err
	}
	return end, nil
}

func offline(ctx context.Context, c *customer, hold *faults.Hold) (End, error) {
	if err := c.pressAndHold(ctx, hold, 1); err != nil {
		return Silent, err
	}
	if err := c.page.offline(ctx, true); err != nil {
		return Silent, err
	}
	hold.Free()
	pause(ctx, waits*look)
	if err := c.page.offline(ctx, false); err != nil {
		return Silent, err
	}
	return c.insist(ctx, c.page, again)
}

// killed also keeps the cookies of the session, as a browser does that restores its tabs after a crash.
func killed(ctx context.Context, c *customer, hold *faults.Hold) (End, error) {
	if err := c.pressAndHold(ctx, hold, 1); err != nil {
		return Silent, err
	}
	cookies, err := c.browser.cookies(ctx)
	if err != nil {
		return Silent, err
	}
	c.browser.kill()
	c.browser = nil
	hold.Free()
	if err := c.startBrowser(ctx); err != nil {
		return Silent, err
	}
	if err := c.browser.setCookies(ctx, cookies); err != nil {
		return Silent, err
	}
	if err := c.page.open(ctx, c.address); err != nil {
		return Silent, err
	}
	return c.insist(ctx, c.page, again)
}
