package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"tenon/lab/pki"
)

func authority(t *testing.T) *pki.Authority {
	t.Helper()
	a, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func parse(t *testing.T, raw []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(raw)
	if block == nil {
		t.Fatalf("no PEM block in %q", raw)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func TestServerIsTrustedOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	a := authority(t)
	pair, err := a.Server("kube-apiserver", []string{"kubernetes.default"}, net.IPv4(10, 96, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.Certificate())
	for host, trusted := range map[string]bool{
		"127.0.0.1": true, "localhost": true, "kubernetes.default": true, "10.96.0.1": true,
		"192.0.2.1": false, "example.org": false,
	} {
		_, err := parse(t, pair.Certificate).Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
		if (err == nil) != trusted {
			t.Errorf("host %s: trusted = %v (%v), want %v", host, err == nil, err, trusted)
		}
	}
}

func TestClientNamesUserAndGroups(t *testing.T) {
	t.Parallel()
	pair, err := authority(t).Client("tenon", "tenon:controllers")
	if err != nil {
		t.Fatal(err)
	}
	certificate := parse(t, pair.Certificate)
	if certificate.Subject.CommonName != "tenon" || !slices.Equal(certificate.Subject.Organization, []string{"tenon:controllers"}) {
		t.Errorf("subject is %v", certificate.Subject)
	}
	if !slices.Equal(certificate.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}) {
		t.Errorf("usages are %v, want client authentication only", certificate.ExtKeyUsage)
	}
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		t.Errorf("certificate and key do not belong together: %v", err)
	}
}

func TestForeignAuthorityIsNotTrusted(t *testing.T) {
	t.Parallel()
	pair, err := authority(t).Server("kube-apiserver", nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority(t).Certificate())
	if _, err := parse(t, pair.Certificate).Verify(x509.VerifyOptions{Roots: roots, DNSName: "localhost"}); err == nil {
		t.Error("a certificate of one lab is trusted by another")
	}
}

func TestKubeconfigIsReadByClients(t *testing.T) {
	t.Parallel()
	a := authority(t)
	pair, err := a.Client("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(a.Kubeconfig("https://127.0.0.1:6443", "admin", pair))
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:6443" || string(config.CertData) != string(pair.Certificate) ||
		string(config.KeyData) != string(pair.Key) || string(config.CAData) != string(a.Certificate()) {
		t.Errorf("the kubeconfig has other content than was given: %+v", config)
	}
}
