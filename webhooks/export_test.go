package webhooks

// ISODigits is the table that the tests compare the helpers with.
var ISODigits = isoDigits
