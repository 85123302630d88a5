package wire

import (
	"crypto/tls"
	"strings"
	"testing"
)

func TestOptionsValidate(t *testing.T) {
	_, err := New(Options{Version: "8.0\x00", MaxConnections: -1, MaxAllowedPacket: 5, DefaultPlugin: "x", WaitTimeout: -1,
		DisableTLS: true, RequireSecureTransport: true, TLS: &tls.Config{}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"no backend", "0x0", "max connections", "max allowed packet", "timeout", "plugin", "secure transport", "both"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in %v", want, err)
		}
	}
	if _, err := New(Options{Backend: newFakeBackend(), TLS: &tls.Config{}}); err == nil {
		t.Error("TLS without a certificate was accepted")
	}
	if _, err := New(Options{Backend: newFakeBackend()}); err != nil {
		t.Error(err)
	}
}
