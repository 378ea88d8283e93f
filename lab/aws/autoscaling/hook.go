package autoscaling

import (
	"slices"

	"tenon/lab/aws/accounts"
)

type putHookInput struct {
	name
	accounts.Hook
}

func putHook(r *accounts.Region, in *putHookInput) (*done, error) {
	return nothing(r.PutHook(in.name.Name, in.Hook))
}

type deleteHookInput struct {
	name
	Hook string `query:"LifecycleHookName"`
}

func deleteHook(r *accounts.Region, in *deleteHookInput) (*done, error) {
	return nothing(r.DeleteHook(in.Name, in.Hook))
}

type hooksInput struct {
	name
	Hooks []string `query:"LifecycleHookNames"`
}

type hooksOutput struct {
	Hooks []hookItem `xml:"LifecycleHooks>member"`
}

type hookItem struct {
	Group string `xml:"AutoScalingGroupName"`
	accounts.Hook
	Longest int `xml:"GlobalTimeout"`
}

// longestWait returns after how many seconds a wait ends, however often it is extended: "48 hours or 100
// times the heartbeat timeout, whichever is smaller".
func longestWait(heartbeat int) int { return min(48*3600, 100*heartbeat) }

func hooks(r *accounts.Region, in *hooksInput) (*hooksOutput, error) {
	g, err := r.ScalingGroup(in.Name)
	if err != nil {
		return nil, err
	}
	out := &hooksOutput{}
	for _, h := range g.Hooks {
		if len(in.Hooks) == 0 || slices.Contains(in.Hooks, h.Name) {
			out.Hooks = append(out.Hooks, hookItem{g.Name, h, longestWait(h.Heartbeat)})
		}
	}
	return out, nil
}

type completeHookInput struct {
	accounts.HookAction
	Result string `query:"LifecycleActionResult"`
}

func completeHook(r *accounts.Region, in *completeHookInput) (*done, error) {
	return nothing(r.CompleteHook(in.HookAction, in.Result))
}

func extendHook(r *accounts.Region, in *accounts.HookAction) (*done, error) {
	return nothing(r.ExtendHook(*in))
}
