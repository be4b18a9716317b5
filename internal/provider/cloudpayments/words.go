package cloudpayments

// These tables map a line's receipt to the numbers of CloudPayments' cash registers
// (https://developers.cloudkassir.ru/#sostav-cheka). The tags are those of 54-FZ.
//
//nolint:gochecknoglobals // tables
var (
	// rates maps the codes of tax rates (tag 1199). Nil is no tax.
	rates = map[int]*int{
		1: nil, 2: new(0), 3: new(10), 4: new(20), 5: new(110), 6: new(120), 7: new(5), 8: new(7), 9: new(105), 10: new(107), 11: new(22), 12: new(122),
	}
	// methods maps the modes of payment (tag 1214). 0 is no mode.
	methods = map[string]int{
		"": 0, "full_prepayment": 1, "partial_prepayment": 2, "advance": 3, "full_payment": 4, "partial_payment": 5, "credit": 6, "credit_payment": 7,
	}
	// objects maps the subjects of payment (tag 1212). 0 is no subject.
	objects = map[string]int{
		"": 0, "commodity": 1, "excise": 2, "job": 3, "service": 4, "gambling_bet": 5, "gambling_prize": 6, "lottery": 7, "lottery_prize": 8,
		"intellectual_activity": 9, "payment": 10, "agent_commission": 11, "composite": 12, "another": 13, "property_right": 14,
		"non_operating_gain": 15, "insurance_premium": 16, "sales_tax": 17, "resort_fee": 18,
	}
	// units maps measures to Russian words (tag 1197) that the customer reads.
	units = map[string]string{
		"": "", "piece": "шт", "gram": "г", "kilogram": "кг", "ton": "т", "centimeter": "см", "decimeter": "дм", "meter": "м",
		"square_centimeter": "кв. см", "square_decimeter": "кв. дм", "square_meter": "кв. м", "milliliter": "мл", "liter": "л", "cubic_meter": "куб. м",
		"kilowatt_hour": "кВт·ч", "gigacalorie": "Гкал", "day": "сут", "hour": "ч", "minute": "мин", "second": "с", "kilobyte": "Кбайт",
		"megabyte": "Мбайт", "gigabyte": "Гбайт", "terabyte": "Тбайт", "another": "",
	}
)
