// Package servicequotas is the wire interface of Service Quotas: it tells the quotas of the account.
package servicequotas

import (
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// Service serves Service Quotas on the given world.
func Service(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "servicequotas", Protocol: wire.JSON11, Target: "ServiceQuotasV20190624",
		Operations: map[string]wire.Handler{
			"GetServiceQuota": wire.Operation(func(c *wire.Call, in *input) (out *output, err error) {
				err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
					out, err = get(r, in)
					return err
				})
				return out, err
			}),
		},
	}
}

type input struct{ ServiceCode, QuotaCode string }

type output struct{ Quota quota }

type quota struct {
	ServiceCode, QuotaCode, QuotaName string
	Value                             float64
}

// unlimited is the quota of an account that has no limit in the emulator.
const unlimited = 100_000

func get(r *accounts.Region, in *input) (*output, error) {
	names := map[string]string{
		"L-1216C47A": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
		"L-34B43A08": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
	}
	name, known := names[in.QuotaCode]
	if in.ServiceCode != "ec2" || !known {
		return nil, wire.Errorf("NoSuchResourceException", "The emulator has no quota %s of %s.", in.QuotaCode, in.ServiceCode)
	}
	q := quota{in.ServiceCode, in.QuotaCode, name, unlimited}
	if limit := r.Quotas().OnDemandVCPUs; limit > 0 && in.QuotaCode == "L-1216C47A" {
		q.Value = float64(limit)
	}
	return &output{q}, nil
}
