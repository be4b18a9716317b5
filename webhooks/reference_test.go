package webhooks_test

import (
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
)

// A shop sends these fields to Checkout.com with a payment that the shop begins itself.
func ExampleReferenceForm_For() {
	form := webhooks.ReferenceForm{Field: "reference", MetadataKey: "payment_attempt_id"}
	fmt.Println(form.For("0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e"))
	fmt.Println(webhooks.ReferenceForm{Field: "OrderId"}.For("0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e"))
	// Output:
	// 0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e map[payment_attempt_id:0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e]
	// 0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e map[]
}
