package cloudpayments_test

import (
	"slices"
	"strconv"
)

// sbp, tPay and sberPay create a transaction that waits for its customer in an app. Each refuses what its documentation
// refuses.
func (f *fake) sbp(in request) object {
	if string(in.Scheme) != `"charge"` || in.FailURL != "" || in.TTL == nil {
		return wrong("Scheme is not valid")
	}
	return f.link(in, "https://qr.nspk.ru/", "Completed")
}

func (f *fake) tPay(in request) object {
	if slices.Contains([]string{in.OS, in.Browser, in.Device, in.SuccessURL, in.FailURL}, "") || in.Webview == nil || in.TTL == nil {
		return wrong("Device is required")
	}
	return f.link(in, "https://o.tbank.ru/tpay/", map[string]string{"0": "Completed", "1": "Authorized"}[string(in.Scheme)])
}

func (f *fake) sberPay(in request) object {
	if slices.Contains([]string{in.OS, in.Browser, in.Device}, "") || in.Webview == nil || in.FailURL != "" || in.TTL != nil {
		return wrong("Device is required")
	}
	return f.link(in, "sberpay://invoicing/", map[string]string{`"charge"`: "Completed", `"auth"`: "Authorized"}[string(in.Scheme)])
}

func (f *fake) link(in request, app, paid string) object {
	if in.PublicID != publicID || paid == "" || in.minor() < 1 || in.mismatched() {
		return wrong("Scheme is not valid")
	}
	t := f.add(&transaction{invoice: in.InvoiceID, currency: in.Currency, amount: in.minor(), status: "Created", data: in.JSONData, held: paid == "Authorized"})
	return done(object{
		"QrUrl": app + strconv.Itoa(t.id), "QrImage": nil, "TransactionId": t.id, "MerchantOrderId": in.InvoiceID, "ProviderQrId": "", "Amount": 19.99,
		"Message": "Created", "IsTest": true,
	})
}
