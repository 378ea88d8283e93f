package dashboard

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
)

// Token returns the token in a file that requests have to bring; empty without a file. It refuses an
// address that other machines can reach without one. The names are those of the flags.
func Token(listenFlag, listen, fileFlag, file string) (string, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("%s=%q is no address with a port such as 127.0.0.1:8082", listenFlag, listen)
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		if token := strings.TrimSpace(string(text)); token != "" {
			return token, nil
		}
		return "", fmt.Errorf("the token file %s is empty", file)
	}
	if address, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !address.IsLoopback()) {
		return "", fmt.Errorf("%s=%s can be reached from other machines: name a file with a token in %s", listenFlag, listen, fileFlag)
	}
	return "", nil
}
