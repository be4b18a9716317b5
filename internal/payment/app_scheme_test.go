package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

func TestIsAppScheme(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"myshop", "com.example.shop", "fb123", "my-shop", "my+shop"} {
		require.True(t, payment.IsAppScheme(scheme), scheme)
	}
	for _, scheme := range []string{
		"", "http", "https", "javascript", "data", "file", "vbscript", "blob", "about", "intent", "ftp", "ws", "mailto", "tel", "view-source", "filesystem",
		"MyShop", "my shop", "myshop:", "myshop://", "1shop", "möbel", "*",
	} {
		require.False(t, payment.IsAppScheme(scheme), scheme)
	}
}
