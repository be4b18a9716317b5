package e2e_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestReadmePicture takes the picture of the README: `make picture` names its file.
func TestReadmePicture(t *testing.T) {
	t.Parallel()
	file := os.Getenv("PAYLATCH_PICTURE")
	if file == "" {
		t.Skip("PAYLATCH_PICTURE names no file for the picture")
	}
	s := openShop(t)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1040, 440))
	b.dark(false)
	order := s.checkout(b, "tok_async_success")
	b.click("#pay", 2, 3, 4)
	s.paidOnce(b, order)
	b.click("#past")
	b.proves("4", "4", "1 ×") // the client has sent one, the last button three
	b.until(`document.querySelectorAll("#past-results li").length === 3`)
	eval[any](b, `(document.activeElement.blur(), scrollTo(0, 0))`)
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.Less(t, len(image), 100_000, "a picture for a README is small")
	require.NoError(t, os.WriteFile(file, image, 0o644))
}
