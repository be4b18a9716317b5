package console

import "github.com/paylatch/paylatch/internal/console/layout"

// chooseView is the content of the page that stands in the place of one that is of one cell.
type chooseView struct {
	layout.Frame
	// Address is that of the page in its place.
	Address string
}

// ofOne is a page, or a form, of what is of one cell. Where all are looked at a cell has to be chosen first; nothing is done meanwhile.
func ofOne(title string, show handler) handler {
	return func(v *visit) error {
		if !v.Everywhere() {
			return show(v)
		}
		return v.Show(choosePage(chooseView{v.Frame(title), v.R.URL.RequestURI()}))
	}
}
