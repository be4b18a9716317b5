package read

import "github.com/paylatch/paylatch/webhooks"

// ModeOf returns the mode that a provider's test flag stands for.
func ModeOf(test bool) webhooks.Mode {
	if test {
		return webhooks.ModeTest
	}
	return webhooks.ModeLive
}

// ModeText returns the mode of a text. test and live are the provider's spellings. The mode is empty for any other text.
func ModeText(text, test, live string) webhooks.Mode {
	switch text {
	case test:
		return webhooks.ModeTest
	case live:
		return webhooks.ModeLive
	default:
		return ""
	}
}
