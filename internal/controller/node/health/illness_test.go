package health

import "testing"

// Conditions as metrics spell them.
func TestSnake(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ready": "ready", "NetworkingReady": "networking_ready", "AcceleratedHardwareReady": "accelerated_hardware_ready",
		"GPUReady": "gpu_ready", "BadGPU": "bad_gpu", "Disk2Full": "disk2_full", "already_snake": "already_snake", "Odd_Name": "odd_name",
	} {
		if got := snakeCase(name); got != want {
			t.Errorf("%s became %s, want %s", name, got, want)
		}
	}
}
