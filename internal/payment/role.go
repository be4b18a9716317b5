package payment

// Role is what a token allows its bearer to be.
type Role string

// The roles. A customer acts for itself. A service (the merchant's backend) acts for the user that it names. Support
// reads and resolves. An admin may refund, too.
const (
	RoleCustomer Role = "customer"
	RoleService  Role = "service"
	RoleSupport  Role = "support"
	RoleAdmin    Role = "admin"
)
