package autoscaling

import "tenon/lab/aws/accounts"

type putWarmInput struct {
	name
	accounts.WarmPool
}

func putWarm(r *accounts.Region, in *putWarmInput) (*done, error) {
	return nothing(r.PutWarmPool(in.Name, in.WarmPool))
}

type deleteWarmInput struct {
	name
	ForceDelete bool
}

func deleteWarm(r *accounts.Region, in *deleteWarmInput) (*done, error) {
	return nothing(r.DeleteWarmPool(in.Name))
}

type warmInput struct {
	name
	paging
}

type warmOutput struct {
	Pool      *accounts.WarmPool `xml:"WarmPoolConfiguration"`
	Instances []memberItem       `xml:"Instances>member"`
	Next      string             `xml:"NextToken,omitempty"`
}

func warm(r *accounts.Region, in *warmInput) (*warmOutput, error) {
	g, err := r.ScalingGroup(in.Name)
	if err != nil {
		return nil, err
	}
	cut, next, err := page(g.Prepared, func(m *accounts.Member) string { return m.Instance.ID }, in.paging)
	out := &warmOutput{Pool: g.Warm, Next: next}
	for _, m := range cut {
		out.Instances = append(out.Instances, itemOfMember(m))
	}
	return out, err
}
