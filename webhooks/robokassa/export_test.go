package robokassa

// Sum is the hash over the values of a form: the last but the first three stand where a notification has the merchant's
// own parameters.
func Sum(hash, first, second, third string, last ...string) []byte {
	return notification{amount: first, invoice: second, shop: last}.sum(hashes[hash], third)
}
