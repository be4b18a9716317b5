package cells

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/paylatch/paylatch/internal/api/gen"
)

// answer is a cell's response, held until the responses of the other cells are there.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p) //nolint:wrapcheck // it can't fail
}

// ask returns a cell's response to a request.
func ask(api http.Handler, req *http.Request) *answer {
	a := &answer{header: http.Header{}}
	api.ServeHTTP(a, req)
	return a
}

// send writes the response as it came.
func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}

// each sends a request to all cells at once.
func (r *Router) each(request func(i int) *http.Request) []*answer {
	all := make([]*answer, len(r.Cells))
	var asked sync.WaitGroup
	for i, c := range r.Cells {
		if req := request(i); req != nil {
			asked.Go(func() { all[i] = ask(c.API, req) })
		}
	}
	asked.Wait()
	return all
}

// ready returns the checks of all cells. It is ready as long as one cell is ready: if one cell stopped the whole process, the
// other cells would lack it.
func (r *Router) ready(w http.ResponseWriter, req *http.Request) {
	all := gen.Readiness{Status: gen.ReadinessStatusUnavailable, Checks: map[string]gen.ReadinessChecks{}}
	status := http.StatusServiceUnavailable
	answers := r.each(func(int) *http.Request { return req.Clone(req.Context()) })
	for i, a := range answers {
		var of gen.Readiness
		_ = json.Unmarshal(a.body.Bytes(), &of) // a body that is no such object has no checks, and is not ready
		for name, result := range of.Checks {
			all.Checks["cell "+strconv.Itoa(int(r.Cells[i].Number))+": "+name] = result
		}
		if a.status == http.StatusOK {
			all.Status, status = gen.ReadinessStatusOk, http.StatusOK
		}
	}
	maps.Copy(w.Header(), answers[0].header)
	w.Header().Del("Content-Length")
	write(w, status, all)
}

// write sends a body as JSON. It ignores a broken connection.
func write(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // all of it was JSON before
}
