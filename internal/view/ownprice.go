package view

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"tenon/core/model"
)

// OwnPrices are the prices that a user gives in a file, by type, zone and capacity type. An empty zone or capacity type
// stands for all of them.
type OwnPrices map[offer]model.Money

// ReadPrices reads lines of type, zone, capacity type and price an hour, such as m5.large,,on-demand,0.0816. Lines that begin
// with # are left out.
func ReadPrices(from io.Reader) (OwnPrices, error) {
	lines := csv.NewReader(from)
	lines.Comment, lines.FieldsPerRecord, lines.TrimLeadingSpace = '#', 4, true
	out := OwnPrices{}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w; write type,zone,capacity type,price, such as m5.large,,on-demand,0.0816", err)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		line, _ := lines.FieldPos(0)
		key := offer{fields[0], fields[1], fields[2]}
		price, err := model.ParsePrice(fields[3])
		_, twice := out[key]
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: price: %w", line, err)
		case key.kind == "":
			return nil, fmt.Errorf("line %d: there is no instance type", line)
		case key.capacityType != "" && key.capacityType != "on-demand" && key.capacityType != "spot" && key.capacityType != "reserved":
			return nil, fmt.Errorf("line %d: %q is no capacity type; write on-demand, spot, reserved or nothing", line, key.capacityType)
		case twice:
			return nil, fmt.Errorf("line %d: there is a price for this already", line)
		}
		out[key] = price
	}
}

// of returns the price of a node: the one of its zone and capacity type counts before those of all.
func (p OwnPrices) of(n *Node) (model.Money, bool) {
	capacityType := n.CapacityType
	if capacityType == "" { // as everywhere, an estimate
		capacityType = "on-demand"
	}
	for _, key := range []offer{{n.Type, n.Zone, capacityType}, {n.Type, "", capacityType}, {n.Type, n.Zone, ""}, {n.Type, "", ""}} {
		if price, known := p[key]; known {
			return price, true
		}
	}
	return 0, false
}
