package nodegroups

import "testing"

// New nodes are divided among groups that are alike, also while these are empty and EKS names them in their tags.
func TestLikeGroupsAreBalanced(t *testing.T) {
	s := tell(t)
	s.cas("one", "m5.large", "a", size{0, 0, 4}, nil)
	s.cas("two", "m5.large", "b", size{0, 0, 4}, nil)
	s.shown()
	s.deploy("web", 4, "one", "two") // one pod to an instance
	s.awaitSizes(map[string]int32{"one": 2, "two": 2})
	s.Running("web", 4)
}
