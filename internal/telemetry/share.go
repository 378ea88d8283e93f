package telemetry

// shareOf is the part of all series that one gauge about pods, nodes or conditions may have.
const shareOf = 10

// Share is how many series one gauge with a series for each pod, node or condition may have
// when the process has that many; zero is without bound.
func Share(series int) int { return max(series, 0) / shareOf }
