package version

import (
	"runtime"
	"testing"
)

func TestDescribePrefersStampsAndNamesWhatIsUnknown(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	cases := map[string]struct {
		stamped  Info
		recorded map[string]string
		want     Info
	}{
		"a stamped build says what the linker was told": {
			stamped:  Info{Version: "1.2.3", Commit: "abcdef0123", CommitDate: "2026-01-02T03:04:05Z"},
			recorded: map[string]string{"vcs.revision": "other", "vcs.time": "other"},
			want:     Info{Version: "1.2.3", Commit: "abcdef0123", CommitDate: "2026-01-02T03:04:05Z"},
		},
		"a build by go install names the commit that Go recorded": {
			recorded: map[string]string{"vcs.revision": "0123456789", "vcs.time": "2026-01-02T03:04:05Z"},
			want:     Info{Version: "0.0.0-devel", Commit: "0123456789", CommitDate: "2026-01-02T03:04:05Z"},
		},
		"a build from nowhere says so": {
			want: Info{Version: "0.0.0-devel", Commit: "unknown", CommitDate: "unknown"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.want.GoVersion, tc.want.Platform = runtime.Version(), platform
			if got := describe(tc.stamped, tc.recorded); got != tc.want {
				t.Errorf("describe() = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestShortCommitAndUserAgent(t *testing.T) {
	t.Parallel()
	for commit, want := range map[string]string{"0123456789": "0123456", "unknown": "unknown", "abc": "abc"} {
		if got := (Info{Commit: commit}).ShortCommit(); got != want {
			t.Errorf("ShortCommit of %q = %q, want %q", commit, got, want)
		}
	}
	if got := (Info{Version: "1.2.3"}).UserAgent(); got != "karpenter/1.2.3" {
		t.Errorf("UserAgent() = %q", got)
	}
}
