package webhooks

// About is what a person should know of a provider's webhooks before setting
// them up, one fact a field. It says what the code does: the page of providers is
// generated from it.
type About struct {
	// Kind is the kind's name in the configuration; Name, the provider's.
	Kind, Name string
	// Header names what proves a delivery: a header, or a field of the body where
	// the text says so, or nothing; in brackets, what it is made of.
	Header string
	// EventID says where an event's id comes from.
	EventID string
	// Ack is the answer that the provider takes for "received", and how long it
	// waits for it where that is known.
	Ack string
	// RetryHorizon is how long, and how often, the provider sends again.
	RetryHorizon string
	// Quirks are what surprises, each a sentence.
	Quirks []string
	// Setup are the steps that lead to the first event.
	Setup [5]string
}

// Describer is implemented by every verifier that New returns. About is the same
// for all verifiers of a type, and can be asked of a nil pointer.
type Describer interface {
	// About says what the code does. Its Kind is empty, as a type may serve several.
	About() About
}

// Abouts describes every kind that New knows, sorted by kind.
func Abouts() []About {
	kinds := Kinds()
	abouts := make([]About, len(kinds))
	for i, kind := range kinds {
		abouts[i] = providers[kind].about
		abouts[i].Kind = kind
	}
	return abouts
}

// provider is an entry of the registry.
type provider struct {
	construct func(Config) (Verifier, error)
	about     About
}

// registered makes an entry from a constructor. A constructor that fails yields no
// verifier at all, not an interface that holds a nil pointer.
func registered[V interface {
	Verifier
	Describer
}](construct func(Config) (V, error),
) provider {
	var none V
	return provider{about: none.About(), construct: func(c Config) (Verifier, error) {
		verifier, err := construct(c)
		if err != nil {
			return nil, err
		}
		return verifier, nil
	}}
}
