package webhooks

// ReferenceForm is where a payment that the shop begins by its own call at the provider has the attempt's id, so that the
// payment's webhooks name the attempt. Field, MetadataKey or both are set; each is enough by itself.
type ReferenceForm struct {
	// Field is the provider's name of the field that takes the id as it is. It is empty where there is no such field, or
	// not every webhook of a payment carries it.
	Field string
	// MetadataKey is the key for the id in the data that the provider keeps beside a payment: metadata, custom data,
	// notes, parameters. It is empty if the provider keeps no such data, or if webhooks don't carry the data.
	MetadataKey string
	// Doc describes, in sentences, where the provider takes the two, with its page.
	Doc string
}

// For returns the values to send to the provider for an attempt: the text of Field, empty if there is no such field, and the
// metadata, nil if there is no MetadataKey. The shop may add its own metadata.
func (f ReferenceForm) For(attempt string) (text string, metadata map[string]string) {
	if f.Field != "" {
		text = attempt
	}
	if f.MetadataKey != "" {
		metadata = map[string]string{f.MetadataKey: attempt}
	}
	return text, metadata
}
