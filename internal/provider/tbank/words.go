package tbank

// These tables map a line's receipt (tags of 54-FZ) to the bank's words (https://www.tbank.ru/kassa/dev/payments/,
// "Receipt").
//
//nolint:gochecknoglobals // tables
var (
	// rates maps the codes of tax rates (tag 1199). The last two exist since 2026. The API description that the tests
	// use is older.
	rates = map[int]string{
		1: "none", 2: "vat0", 3: "vat10", 4: "vat20", 5: "vat110", 6: "vat120", 7: "vat5", 8: "vat7", 9: "vat105", 10: "vat107", 11: "vat22", 12: "vat122",
	}
	// methods maps the modes of payment (tag 1214).
	methods = map[string]string{
		"": full, full: full, "full_prepayment": "full_prepayment", "partial_prepayment": "prepayment", "advance": "advance",
		"partial_payment": "partial_payment", "credit": "credit", "credit_payment": "credit_payment",
	}
	// objects maps the subjects of payment (tag 1212). Those from the property right on exist in format 1.2 only;
	// composite exists in format 1.05 only.
	objects = map[string]string{
		"": goods, goods: goods, "excise": "excise", "job": "job", "service": "service", "gambling_bet": "gambling_bet",
		"gambling_prize": "gambling_prize", "lottery": "lottery", "lottery_prize": "lottery_prize", "intellectual_activity": "intellectual_activity",
		"payment": "payment", "agent_commission": "agent_commission", composite: composite, "another": "another",

		"property_right": "property_rights", "non_operating_gain": "unrealization", "insurance_premium": "tax_reduction",
		"sales_tax": "trade_fee", "resort_fee": "resort_tax", "lien": "pledge", "cost": "income_decrease",
		"pension_insurance_without_payouts": "ie_pension_insurance_without_payments", "pension_insurance_with_payouts": "ie_pension_insurance_with_payments",
		"health_insurance_without_payouts": "ie_medical_insurance_without_payments", "health_insurance_with_payouts": "ie_medical_insurance_with_payments",
		"health_insurance": "social_insurance", "casino": "casino_chips", "agent_withdrawals": "agent_payment",
		"non_marked_excise": "excisable_goods_without_marking_code", "marked_excise": "excisable_goods_with_marking_code",
		"non_marked": "goods_without_marking_code", "marked": "goods_with_marking_code",
	}
	// old are the objects that exist in both formats.
	old = map[string]bool{
		"": true, goods: true, "excise": true, "job": true, "service": true, "gambling_bet": true, "gambling_prize": true, "lottery": true,
		"lottery_prize": true, "intellectual_activity": true, "payment": true, "agent_commission": true, "another": true,
	}
	// units maps measures to Russian words (tag 2108) that the customer reads.
	units = map[string]string{
		"": "", "piece": "шт", "gram": "г", "kilogram": "кг", "ton": "т", "centimeter": "см", "decimeter": "дм", "meter": "м",
		"square_centimeter": "кв. см", "square_decimeter": "кв. дм", "square_meter": "кв. м", "milliliter": "мл", "liter": "л", "cubic_meter": "куб. м",
		"kilowatt_hour": "кВт·ч", "gigacalorie": "Гкал", "day": "сут", "hour": "ч", "minute": "мин", "second": "с", "kilobyte": "Кбайт",
		"megabyte": "Мбайт", "gigabyte": "Гбайт", "terabyte": "Тбайт", "another": "иное",
	}
)

const full, goods, composite = "full_payment", "commodity", "composite"
