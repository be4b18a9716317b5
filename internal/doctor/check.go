package doctor

import (
	"context"
	"time"
)

// Check looks at one part of what a service needs.
type Check struct {
	Name string
	Run  func(ctx context.Context) []Finding
}

// limit bounds each check: what does not answer meanwhile is a finding.
const limit = 20 * time.Second

// Run runs checks one after another, and shows each as it ends. It reports how many findings there are.
func Run(ctx context.Context, checks []Check, show func(c Check, found []Finding)) (findings int) {
	for _, c := range checks {
		limited, cancel := context.WithTimeout(ctx, limit)
		found := c.Run(limited)
		cancel()
		show(c, found)
		findings += len(found)
	}
	return findings
}
