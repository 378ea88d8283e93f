package telemetry

// Metrics are all metrics of the product.
type Metrics struct{}
