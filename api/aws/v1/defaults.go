package v1

// SetDefaults fills in the defaults of the API server, for objects that come from a file.
func (c *EC2NodeClass) SetDefaults() {
	if c.Spec.MetadataOptions == nil {
		c.Spec.MetadataOptions = &MetadataOptions{}
	}
	c.Spec.MetadataOptions.setDefaults()
	for i := range c.Status.CapacityReservations {
		c.Status.CapacityReservations[i].setDefaults()
	}
}

func (o *MetadataOptions) setDefaults() {
	setDefault(&o.HTTPEndpoint, "enabled")
	setDefault(&o.HTTPProtocolIPv6, "disabled")
	setDefault(&o.HTTPPutResponseHopLimit, 1)
	setDefault(&o.HTTPTokens, "required")
}

func (r *CapacityReservation) setDefaults() {
	if r.ReservationType == "" {
		r.ReservationType = ReservationDefault
	}
	if r.State == "" {
		r.State = ReservationActive
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
