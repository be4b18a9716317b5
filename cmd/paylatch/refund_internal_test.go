package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// An amount with a point is refused, with an example of the right form.
func TestMinorUnits(t *testing.T) {
	t.Parallel()
	var c refundCreateCmd
	parser, err := kong.New(&c)
	require.NoError(t, err)
	_, err = parser.Parse([]string{"id", "--reason", "why", "--amount", "1000"})
	require.NoError(t, err)
	require.Equal(t, minorUnits(1000), *c.Amount)
	require.Nil(t, c.Expected)
	for _, flag := range []string{"--amount", "--expected-refundable"} {
		_, err = parser.Parse([]string{"id", "--reason", "why", flag, "10.00"})
		require.ErrorContains(t, err, flag+`: must be a whole number of minor units, such as 1000 for 10.00; got "10.00"`)
	}
}

func TestProviderDataIsAnObject(t *testing.T) {
	t.Parallel()
	var c refundCreateCmd
	parser, err := kong.New(&c)
	require.NoError(t, err)
	_, err = parser.Parse([]string{"id", "--reason", "why", "--provider-data", `{"reverse_transfer":true}`})
	require.NoError(t, err)
	require.Equal(t, `{"reverse_transfer":true}`, c.Data.members.Text())
	for _, text := range []string{"true", "{}", "reverse_transfer=true"} {
		_, err = parser.Parse([]string{"id", "--reason", "why", "--provider-data", text})
		require.ErrorContains(t, err, "--provider-data: must be a JSON object with members")
	}
}
