package doctor

// Finding is a problem, or a part that could not be checked.
type Finding struct {
	// Check is the key of the configuration, or the part, that it is about.
	Check, Problem, Remedy string
	// Grave findings keep the service from starting.
	Grave bool
	// Note findings are no problems: they state what was not checked.
	Note bool
}

// String is the finding in one line.
func (f Finding) String() string { return f.Check + ": " + f.Problem + ": " + f.Remedy }
