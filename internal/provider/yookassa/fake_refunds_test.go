package yookassa_test

import "net/http"

func (f *fake) listRefunds(r *http.Request) (int, object) {
	var found []object
	for _, made := range f.refunds {
		if made.payment == r.URL.Query().Get("payment_id") {
			found = append(found, made.render())
		}
	}
	return paged(found, r.URL.Query().Get("cursor"))
}
