package waiting

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestStatus_render(t *testing.T) {
	t.Parallel()
	r := render.New(time.Now, 0)
	one := &Status{View: payment.View{Attempt: payment.Attempt{State: fsm.Succeeded, Version: 3}}}
	one.render(r)
	first := &one.event[0]
	one.render(r)
	require.Same(t, first, &one.event[0], "8,000 waiters of one attempt share its text")
	require.Equal(t, "event: status\nid: 3\ndata: "+string(one.body)+"\n", string(one.event))
	require.Equal(t, 1, strings.Count(string(one.body), "\n"), "it fits into one line of an event")
}
