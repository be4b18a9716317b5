package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/sdk"
)

// scriptLife is how long a browser may use its copy of the client without asking.
// The address has no version in it, so it is short.
const scriptLife = 5 * time.Minute

// routeSDK serves the browser client to pages of any shop.
func routeSDK(e *echo.Echo) {
	sum := sha256.Sum256(sdk.Script)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	e.GET("/sdk/paylatch.js", func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("ETag", tag)
		h.Set(echo.HeaderCacheControl, "public, max-age="+strconv.Itoa(int(scriptLife.Seconds())))
		h.Set(echo.HeaderAccessControlAllowOrigin, "*")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		if render.Matches(c.Request().Header.Get("If-None-Match"), tag) {
			return c.NoContent(http.StatusNotModified)
		}
		return c.Blob(http.StatusOK, "text/javascript; charset=utf-8", sdk.Script)
	})
}
