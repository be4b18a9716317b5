package rehearse

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrNoBrowser is returned without a Chromium on this machine.
var ErrNoBrowser = errors.New("there is no Chromium: install it (Debian: apt-get install chromium; macOS: brew install --cask chromium), or name one by --browser")

// errGone is returned when the browser has ended.
var errGone = errors.New("the browser has ended")

// callTimeout bounds one call of the browser.
const callTimeout = time.Minute

// findBrowser returns the path of a Chromium, or of the named program.
func findBrowser(named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("--browser: %w", err)
		}
		return path, nil
	}
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBrowser
}

// browser is a Chromium, driven by its DevTools protocol over two pipes (--remote-debugging-pipe): messages in JSON, each with
// a zero byte at its end.
type browser struct {
	cmd  *exec.Cmd
	out  *os.File
	gone chan struct{}

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan answer
}

type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"` //nolint:tagliatelle // the protocol's name
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

type answer struct {
	result json.RawMessage
	err    error
}

// flags makes a browser without traffic of its own, with all frames in one process.
func flags(profile, proxy string) []string {
	all := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		"--proxy-server=" + proxy, "--proxy-bypass-list=<-loopback>", "--ignore-certificate-errors", "--disable-quic",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
		"--disable-default-apps", "--disable-extensions", "--disable-sync", "--disable-breakpad", "--metrics-recording-only",
		"--disable-client-side-phishing-detection", "--safebrowsing-disable-auto-update", "--password-store=basic", "--use-mock-keychain",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-hang-monitor", "--disable-prompt-on-repost", "--disable-popup-blocking",
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process,Translate,HttpsUpgrades",
		"--window-size=1024,900",
	}
	if os.Geteuid() == 0 {
		all = append(all, "--no-sandbox") // Chromium refuses root with its sandbox
	}
	return append(all, "about:blank")
}

// startBrowser starts a Chromium with a profile of its own.
func startBrowser(ctx context.Context, path, profile, proxy string) (*browser, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the browser: %w", err), theirIn.Close(), in.Close())
	}
	cmd := exec.Command(path, flags(profile, proxy)...) //nolint:gosec,noctx // the tester's browser; kill ends it and all its processes
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the browser: %w", err), in.Close(), out.Close())
	}
	b := &browser{cmd: cmd, out: in, gone: make(chan struct{}), waiting: map[int64]chan answer{}}
	go b.read(out)
	if _, err := b.call(ctx, "", "Browser.getVersion", nil); err != nil {
		b.kill()
		return nil, fmt.Errorf("start %s: %w: %s", path, err, tail(said.String()))
	}
	return b, nil
}

// tail is the end of an output.
func tail(text string) string {
	const most = 2000
	return text[max(0, len(text)-most):]
}

// kill ends all processes of the browser at once.
func (b *browser) kill() {
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	_ = b.cmd.Wait()
	_ = b.out.Close()
	<-b.gone
}

// read delivers the answers until the browser ends.
func (b *browser) read(in *os.File) {
	defer func() {
		_ = in.Close()
		close(b.gone)
	}()
	r := bufio.NewReader(in)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		if m.Method == "Page.javascriptDialogOpening" { // an open dialog stops the page
			go func() { // it outlives the call that opened the dialog
				_, _ = b.call(context.Background(), m.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
			}()
			continue
		}
		a := answer{result: m.Result}
		if m.Error != nil {
			a.err = errors.New(m.Error.Message)
		}
		b.mu.Lock()
		to := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if to != nil {
			to <- a
		}
	}
}

// call calls a method of the browser, or of a page's session.
func (b *browser) call(ctx context.Context, session, method string, params any) (json.RawMessage, error) {
	to := make(chan answer, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = to
	text, err := json.Marshal(message{ID: id, Session: session, Method: method, Params: params})
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, errors.Join(errGone, err))
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	select {
	case a := <-to:
		if a.err != nil {
			return nil, fmt.Errorf("%s: %w", method, a.err)
		}
		return a.result, nil
	case <-b.gone:
		return nil, fmt.Errorf("%s: %w", method, errGone)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// get is call with a typed result.
func get[T any](ctx context.Context, b *browser, session, method string, params any) (T, error) {
	var v T
	text, err := b.call(ctx, session, method, params)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("%s: %w", method, err)
	}
	return v, nil
}

// cookies returns the cookies of the profile, those of the session included.
func (b *browser) cookies(ctx context.Context) (json.RawMessage, error) {
	all, err := get[struct {
		Cookies json.RawMessage `json:"cookies"`
	}](ctx, b, "", "Storage.getCookies", nil)
	return all.Cookies, err
}

func (b *browser) setCookies(ctx context.Context, all json.RawMessage) error {
	_, err := b.call(ctx, "", "Storage.setCookies", map[string]any{"cookies": all})
	return err
}
