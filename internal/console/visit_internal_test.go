package console

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFurther(t *testing.T) {
	t.Parallel()
	v := &Visit{R: httptest.NewRequest(http.MethodGet, "/support/discrepancies?done=key&kind=disputed&cursor=a", nil)}
	require.Equal(t, "/support/discrepancies?cursor=b&kind=disputed", v.Further("b"))
	require.Empty(t, v.Further(""))
}
