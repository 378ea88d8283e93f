package pages

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

// TestMain plays a program if it is called as one. The lab of the package is that of the how-to pages: their classes name the role.
func TestMain(m *testing.M) {
	Play()
	labtest.Main(m, labtest.Options{Controller: "tenon", BootDelay: time.Second, NodeRole: "KarpenterNodeRole-demo"})
}
