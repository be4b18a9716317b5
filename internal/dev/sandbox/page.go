package sandbox

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/paylatch/paylatch/internal/platform/page"
	"github.com/paylatch/paylatch/webhooks"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var pageFiles embed.FS

// pageData is the content of the hosted page.
type pageData struct {
	Title, Text string
	// State is shown by its colour and its mark, once it is final.
	State     status
	Money     string
	Reference string
	Undecided bool
	ReturnURL string
	// ID is the charge's id. The decision goes to the charge's address.
	ID string
}

func parsePage() (*template.Template, error) {
	page, err := template.New("page").Funcs(template.FuncMap{"head": pageHead}).Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	return page, nil
}

// pageHead has addresses beside the page's own.
func pageHead() template.HTML {
	return template.HTML(page.StyleHead("assets/", "style.css")) //nolint:gosec // escaped, and of constants
}

func (s *Server) showPage(w http.ResponseWriter, r *http.Request) {
	s.showPageOf(w, r.PathValue("id"))
}

// showChallenge shows the page to a customer that arrives by a form.
func (s *Server) showChallenge(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.showPageOf(w, r.PostFormValue("charge"))
}

func (s *Server) showPageOf(w http.ResponseWriter, id string) {
	var rec chargeRecord
	s.store.view(func(st *state) { rec = st.charges[id] })
	if rec.PageURL == "" {
		s.render(w, http.StatusNotFound, pageData{Title: "No such payment", Text: "This address belongs to no payment."})
		return
	}
	s.render(w, http.StatusOK, pageOf(rec))
}

// decide takes the customer's decision, once: another one shows the charge as it is
// and changes nothing.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	do := map[string]step{"approve": stepApprove, "decline": stepDecline}[r.PostFormValue("decision")]
	if do == stepNone {
		s.render(w, http.StatusUnprocessableEntity, pageData{Title: "No decision", Text: "Go back and approve or decline the payment."})
		return
	}
	var rec chargeRecord
	decided := false
	err := s.store.update(func(t *tx) {
		rec = t.charges[r.PathValue("id")]
		if decided = rec.PageURL != "" && rec.Status == pending; decided && rec.Challenge == nil {
			t.perform(&rec, do)
			t.putCharge(rec)
		}
	})
	switch {
	case err != nil:
		s.opts.Log(err)
		s.render(w, http.StatusInternalServerError, pageData{Title: "Something went wrong", Text: "Reload the page to see the payment's status."})
	case rec.PageURL == "":
		s.showPage(w, r)
	case !decided:
		s.render(w, http.StatusConflict, pageOf(rec))
	case rec.Challenge != nil:
		http.Redirect(w, r, rec.back(do), http.StatusSeeOther)
	case rec.ReturnURL != "":
		http.Redirect(w, r, rec.ReturnURL, http.StatusSeeOther)
	default:
		http.Redirect(w, r, rec.PageURL, http.StatusSeeOther)
	}
}

func (s *Server) render(w http.ResponseWriter, status int, data pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	if err := s.page.Execute(w, data); err != nil {
		s.opts.Log(fmt.Errorf("render page: %w", err))
	}
}

func pageOf(rec chargeRecord) pageData {
	data := pageData{
		Money: webhooks.Money{Minor: rec.Amount, Currency: rec.Currency}.Text(), Reference: rec.Reference,
		ReturnURL: rec.ReturnURL, Undecided: rec.Status == pending, ID: rec.ID,
	}
	switch rec.Status {
	case pending:
		data.Title, data.Text = "Approve this payment?", "No real money moves. The shop gets your decision."
	case authorized:
		data.Title, data.Text = "Payment authorized", "The money is held until the shop takes it."
	case succeeded:
		data.Title, data.Text, data.State = "Payment approved", "The payment was made.", succeeded
	case failed:
		data.Title, data.Text, data.State = "Payment declined", "Nothing was charged.", failed
	case canceled:
		data.Title, data.Text = "Payment canceled", "Nothing was charged. The shop has canceled this payment."
	}
	return data
}
