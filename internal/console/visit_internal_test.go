package console

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFurther(t *testing.T) {
	t.Parallel()
	v := &visit{r: httptest.NewRequest(http.MethodGet, "/support/discrepancies?done=key&kind=disputed&cursor=a", nil)}
	require.Equal(t, "/support/discrepancies?cursor=b&kind=disputed", v.further("b"))
	require.Empty(t, v.further(""))
}
