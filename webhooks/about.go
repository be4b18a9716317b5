package webhooks

// About describes a provider's webhooks to those that set them up, one fact a field. The page of providers is made of it.
type About struct {
	// Kind is the kind's name in the configuration; Name, the provider's. A provider's package leaves Kind empty, as it
	// may serve several.
	Kind, Name string
	// Header names what proves a delivery: a header, or a field of the body where it is written so, or nothing; in
	// brackets, what it is made of.
	Header string
	// EventID is where an event's id comes from.
	EventID string
	// Ack is the response that the provider takes for "received", and how long it waits for it where that is documented.
	Ack string
	// RetryHorizon is how long, and how often, the provider sends again.
	RetryHorizon string
	// Quirks are what surprises, each a sentence.
	Quirks []string
	// Setup are the steps that lead to the first event.
	Setup [5]string
}
