package payment

// Role is the role that a token gives its bearer.
type Role string

// The roles. A customer acts for itself. A service (the merchant's backend) acts for the user that it names. Support
// reads and resolves. An admin may refund, too.
const (
	RoleCustomer Role = "customer"
	RoleService  Role = "service"
	RoleSupport  Role = "support"
	RoleAdmin    Role = "admin"
)
