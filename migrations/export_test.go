package migrations

var (
	UpFrom       = up
	StatusFrom   = status
	RequiredFrom = required
	HashFrom     = hash
)
