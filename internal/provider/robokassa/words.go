package robokassa

// These tables map a line's receipt (tags of 54-FZ) to Robokassa's words (https://docs.robokassa.ru/ru/fiscalization).
//
//nolint:gochecknoglobals // tables
var (
	// taxations are the tax systems (tag 1055).
	taxations = map[string]bool{"osn": true, "usn_income": true, "usn_income_outcome": true, "esn": true, "patent": true}
	// rates maps the codes of tax rates (tag 1199).
	rates = map[int]string{
		1: "none", 2: "vat0", 3: "vat10", 4: "vat20", 5: "vat110", 6: "vat120", 7: "vat5", 8: "vat7", 9: "vat105", 10: "vat107", 11: "vat22", 12: "vat122",
	}
	// methods maps the modes of payment (tag 1214).
	methods = map[string]string{
		"": full, full: full, "full_prepayment": "full_prepayment", "partial_prepayment": "prepayment", "advance": "advance",
		"partial_payment": "partial_payment", "credit": "credit", "credit_payment": "credit_payment",
	}
	// objects maps the subjects of payment (tag 1212).
	objects = map[string]string{
		"": goods, goods: goods, "excise": "excise", "job": "job", "service": "service", "gambling_bet": "gambling_bet",
		"gambling_prize": "gambling_prize", "lottery": "lottery", "lottery_prize": "lottery_prize", "intellectual_activity": "intellectual_activity",
		"payment": "payment", "agent_commission": "agent_commission", "composite": "composite", "another": "another",
		"property_right": "property_right", "non_operating_gain": "non-operating_gain", "insurance_premium": "insurance_premium",
		"sales_tax": "sales_tax", "resort_fee": "resort_fee",
	}
)

const full, goods = "full_payment", "commodity"
