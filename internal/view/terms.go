package view

// Terms are what a user pays instead of the prices that are known.
type Terms struct {
	Prices    OwnPrices
	Discounts Discounts
	Plans     []SavingsPlan
}

// None reports whether the known prices are paid.
func (t Terms) None() bool { return len(t.Prices)+len(t.Discounts)+len(t.Plans) == 0 }

// SetTerms sets what is paid instead of the known prices.
func (s *State) SetTerms(t Terms) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.own, s.discounts, s.plans, s.covered = t.Prices, t.Discounts, t.Plans, coverage{}
	s.built, s.made = map[string]*Node{}, nil
	s.revision++
}
