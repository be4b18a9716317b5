package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// page is a tab of the browser.
type page struct {
	*browser

	session string
}

// errNotThere is returned for an element that no frame of a page has.
var errNotThere = errors.New("the page has no such element")

// newPage opens a tab in a window of its own.
func (b *browser) newPage(ctx context.Context) (*page, error) {
	target, err := get[struct {
		ID string `json:"targetId"` //nolint:tagliatelle // the protocol's name
	}](ctx, b, "", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true})
	if err != nil {
		return nil, err
	}
	attached, err := get[struct {
		ID string `json:"sessionId"` //nolint:tagliatelle // the protocol's name
	}](ctx, b, "", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true})
	if err != nil {
		return nil, err
	}
	p := &page{b, attached.ID}
	return p, errors.Join(p.do(ctx, "Page.enable", nil), p.do(ctx, "Network.enable", nil))
}

func (p *page) do(ctx context.Context, method string, params any) error {
	_, err := p.call(ctx, p.session, method, params)
	return err
}

func (p *page) open(ctx context.Context, address string) error {
	result, err := get[struct {
		Error string `json:"errorText"` //nolint:tagliatelle // the protocol's name
	}](ctx, p.browser, p.session, "Page.navigate", map[string]any{"url": address})
	if err == nil && result.Error != "" {
		err = fmt.Errorf("open %s: %s", address, result.Error)
	}
	return err
}

func (p *page) reload(ctx context.Context) error { return p.do(ctx, "Page.reload", nil) }

func (p *page) front(ctx context.Context) error { return p.do(ctx, "Page.bringToFront", nil) }

// back goes by steps through the history: -1 is the page before.
func (p *page) back(ctx context.Context, steps int) error {
	history, err := get[struct {
		Current int `json:"currentIndex"` //nolint:tagliatelle // the protocol's name
		Entries []struct {
			ID int `json:"id"`
		} `json:"entries"`
	}](ctx, p.browser, p.session, "Page.getNavigationHistory", nil)
	if err != nil {
		return err
	}
	i := history.Current + steps
	if i < 1 || i >= len(history.Entries) { // the first entry is the empty tab
		return nil
	}
	return p.do(ctx, "Page.navigateToHistoryEntry", map[string]any{"entryId": history.Entries[i].ID})
}

// offline cuts the tab off, requests under way included, or connects it again.
func (p *page) offline(ctx context.Context, off bool) error {
	state := map[string]any{"urlPattern": "", "latency": 0, "offline": off, "downloadThroughput": -1, "uploadThroughput": -1}
	if err := p.do(ctx, "Network.emulateNetworkConditionsByRule", map[string]any{"matchedNetworkConditions": []any{state}}); err != nil {
		// An older Chromium has one call for both.
		delete(state, "urlPattern")
		return p.do(ctx, "Network.emulateNetworkConditions", state)
	}
	delete(state, "urlPattern")
	return p.do(ctx, "Network.overrideNetworkState", state)
}

// frames are the ids of the page's frames, the page itself first.
func (p *page) frames(ctx context.Context) (ids []string, err error) {
	type tree struct {
		Frame struct {
			ID string `json:"id"`
		} `json:"frame"`
		Children []json.RawMessage `json:"childFrames"` //nolint:tagliatelle // the protocol's name
	}
	top, err := get[struct {
		Tree json.RawMessage `json:"frameTree"` //nolint:tagliatelle // the protocol's name
	}](ctx, p.browser, p.session, "Page.getFrameTree", nil)
	if err != nil {
		return nil, err
	}
	for left := []json.RawMessage{top.Tree}; len(left) > 0; left = left[1:] {
		var t tree
		if err := json.Unmarshal(left[0], &t); err != nil {
			return nil, fmt.Errorf("the page's frames: %w", err)
		}
		ids = append(ids, t.Frame.ID)
		left = append(left, t.Children...)
	}
	return ids, nil
}

// world is a context for scripts in a frame, apart from the page's own scripts.
func (p *page) world(ctx context.Context, frame string) (int64, error) {
	made, err := get[struct {
		ID int64 `json:"executionContextId"` //nolint:tagliatelle // the protocol's name
	}](ctx, p.browser, p.session, "Page.createIsolatedWorld", map[string]any{"frameId": frame, "worldName": "rehearse"})
	return made.ID, err
}

// object is a value in the page: an element by its id, or a copy.
type object struct {
	ID      string          `json:"objectId"` //nolint:tagliatelle // the protocol's name
	Subtype string          `json:"subtype"`
	Value   json.RawMessage `json:"value"`
}

func (p *page) evaluate(ctx context.Context, world int64, expression string, byValue bool) (object, error) {
	done, err := get[struct {
		Result  object `json:"result"`
		Problem *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"` //nolint:tagliatelle // the protocol's name
	}](ctx, p.browser, p.session, "Runtime.evaluate", map[string]any{"expression": expression, "contextId": world, "returnByValue": byValue})
	if err == nil && done.Problem != nil {
		err = fmt.Errorf("%s in %s", done.Problem.Text, expression)
	}
	return done.Result, err
}

// seen is an expression that is true while the element, and the text in it, is visible. With enabled, the element also
// takes a press.
func (s Sight) seen(enabled bool) string {
	expression := `(() => { const e = document.querySelector(` + quote(s.Show) + `); ` +
		`return !!e && e.checkVisibility({ visibilityProperty: true }) && e.innerText.includes(` + quote(s.Text) + `)`
	if s.Text == "" {
		expression = `(() => { const e = document.querySelector(` + quote(s.Show) + `); return !!e && e.checkVisibility({ visibilityProperty: true })`
	}
	if enabled {
		expression += ` && !e.disabled && e.getAttribute("aria-disabled") !== "true"`
	}
	return expression + ` })()`
}

// quote writes a text as a script does.
func quote(text string) string {
	quoted, _ := json.Marshal(text) //nolint:errchkjson // texts always marshal
	return string(quoted)
}

// sees returns the world of the first frame that shows an element, or errNotThere. A page that another page replaces shows
// nothing.
func (p *page) sees(ctx context.Context, s Sight, enabled bool) (world int64, err error) {
	if s.Show == "" {
		return 0, errNotThere
	}
	frames, err := p.frames(ctx)
	if err != nil {
		return 0, err
	}
	for _, frame := range frames {
		world, err := p.world(ctx, frame)
		if err != nil {
			continue
		}
		if v, err := p.evaluate(ctx, world, s.seen(enabled), true); err == nil && string(v.Value) == "true" {
			return world, nil
		}
	}
	return 0, errNotThere
}

// element returns an element that the page shows.
func (p *page) element(ctx context.Context, s Sight) (object, error) {
	world, err := p.sees(ctx, s, false)
	if err != nil {
		return object{}, err
	}
	e, err := p.evaluate(ctx, world, "document.querySelector("+quote(s.Show)+")", false)
	if err == nil && e.ID == "" {
		err = errNotThere
	}
	return e, err
}

// still waits until the element was painted twice at one place. Chromium drops a press before the first frame of a page, and a page that
// is loading moves its elements.
const still = `async function () {
	const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 1000); });
	for (let was = "", n = 0; n < 100; n++) {
		await frame();
		const r = this.getBoundingClientRect(), now = [r.x, r.y, r.width, r.height].join();
		if (now === was) return;
		was = now;
	}
}`

// press clicks in the middle of an element, count times at once.
func (p *page) press(ctx context.Context, selector string, count int) error {
	if err := p.front(ctx); err != nil {
		return err
	}
	e, err := p.element(ctx, Sight{Show: selector})
	if err != nil {
		return err
	}
	if err := p.do(ctx, "DOM.scrollIntoViewIfNeeded", map[string]any{"objectId": e.ID}); err != nil {
		return err
	}
	if err := p.do(ctx, "Runtime.callFunctionOn", map[string]any{"objectId": e.ID, "functionDeclaration": still, "awaitPromise": true}); err != nil {
		return err
	}
	at, err := get[struct {
		Quads [][8]float64 `json:"quads"`
	}](ctx, p.browser, p.session, "DOM.getContentQuads", map[string]any{"objectId": e.ID})
	if err != nil {
		return err
	}
	if len(at.Quads) == 0 {
		return errNotThere
	}
	q := at.Quads[0]
	for n := range count {
		for _, kind := range []string{"mousePressed", "mouseReleased"} {
			err := p.do(ctx, "Input.dispatchMouseEvent", map[string]any{
				"type": kind, "x": (q[0] + q[4]) / 2, "y": (q[1] + q[5]) / 2, "button": "left", "clickCount": n + 1,
			})
			if err != nil && n == 0 && kind == "mousePressed" { // later ones fail if the first one led to another page
				return err
			}
		}
	}
	return nil
}

// filler sets a choice, or selects the text of a field for the keyboard; it returns whether the keyboard is needed.
const filler = `function (value) {
	const changed = () => { for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true })) };
	if (this instanceof HTMLSelectElement) {
		this.value = value;
		if (this.value !== value) throw new Error("the list has no option " + value);
		changed();
		return false;
	}
	if (this.type === "checkbox" || this.type === "radio") {
		if (this.checked !== (value === "true")) this.click();
		return false;
	}
	this.focus();
	this.select?.();
	return true;
}`

// fill types a value into a field, chooses it in a list, or sets a box to true or false.
func (p *page) fill(ctx context.Context, selector, value string) error {
	e, err := p.element(ctx, Sight{Show: selector})
	if err != nil {
		return err
	}
	done, err := get[struct {
		Result  object `json:"result"`
		Problem *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"` //nolint:tagliatelle // the protocol's name
	}](ctx, p.browser, p.session, "Runtime.callFunctionOn", map[string]any{
		"objectId": e.ID, "functionDeclaration": filler, "arguments": []any{map[string]any{"value": value}}, "returnByValue": true,
	})
	switch {
	case err != nil:
		return err
	case done.Problem != nil:
		return fmt.Errorf("fill %s: %s", selector, done.Problem.Exception.Description)
	case string(done.Result.Value) != "true":
		return nil
	}
	return p.do(ctx, "Input.insertText", map[string]any{"text": value})
}

// words are the page's address and the beginning of its text.
func (p *page) words(ctx context.Context) (address, text string) {
	const most = 300
	read := func(expression string) (s string) {
		frames, err := p.frames(ctx)
		if err != nil {
			return ""
		}
		world, err := p.world(ctx, frames[0])
		if err != nil {
			return ""
		}
		v, err := p.evaluate(ctx, world, expression, true)
		if err != nil || json.Unmarshal(v.Value, &s) != nil {
			return ""
		}
		return s
	}
	text = read("document.body?.innerText ?? ''")
	return read("location.href"), strings.ToValidUTF8(text[:min(len(text), most)], "")
}
