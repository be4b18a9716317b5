package payment

// Role is what a token allows its bearer to be.
type Role string

// The roles: a customer acts for itself, a service (the merchant's backend) for the user that it
// names; support reads and resolves, and an admin may refund, too.
const (
	RoleCustomer Role = "customer"
	RoleService  Role = "service"
	RoleSupport  Role = "support"
	RoleAdmin    Role = "admin"
)
