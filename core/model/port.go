package model

// HostPort is a port of the node itself that a pod takes. IP is empty for every address.
type HostPort struct {
	IP       string `json:"ip,omitempty"`
	Port     int32  `json:"port"`
	Protocol string `json:"protocol"`
}

// Conflicts reports whether both cannot be had on one node.
func (p HostPort) Conflicts(o HostPort) bool {
	if p.Port != o.Port || p.Protocol != o.Protocol {
		return false
	}
	return p.anyAddress() || o.anyAddress() || p.IP == o.IP
}

func (p HostPort) anyAddress() bool { return p.IP == "" || p.IP == "0.0.0.0" || p.IP == "::" }
