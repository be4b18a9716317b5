package console

// chooseView is the content of the page that asks for a cell.
type chooseView struct {
	Frame
	// Address is that of the page in its place.
	Address string
}

// ofOne shows a page or a form about a single cell. If all cells are chosen, it shows a choice of cells instead and does nothing else.
func ofOne(title string, show handler) handler {
	return func(v *visit) error {
		if !v.Everywhere() {
			return show(v)
		}
		return v.Show(choosePage(chooseView{v.Frame(title), v.R.URL.RequestURI()}))
	}
}
