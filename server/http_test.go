package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

// ask sends a request over a connection and returns the status of the answer, or the error of reading it.
func ask(c net.Conn) (int, error) {
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") // a server that has closed is seen when reading
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close()
	return answer.StatusCode, nil
}

// TestStatusPortIsBounded: the status port asks for no login, so whoever reaches it can hold only so many connections, and none for ever.
func TestStatusPortIsBounded(t *testing.T) {
	n, err := Open(context.Background(), testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if n.http.ReadTimeout <= 0 || n.http.IdleTimeout <= 0 || n.http.WriteTimeout <= 0 {
		t.Errorf("a client may take its time: read %v, idle %v, write %v", n.http.ReadTimeout, n.http.IdleTimeout, n.http.WriteTimeout)
	}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", n.httpListener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	held := make([]net.Conn, httpConnsMax)
	for i := range held {
		held[i] = dial()
		if code, err := ask(held[i]); code != http.StatusOK {
			t.Fatalf("connection %d: %d, %v", i, code, err)
		}
	}
	if code, err := ask(dial()); err == nil {
		t.Errorf("one too many was answered: %d", code)
	}
	_ = held[0].Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if code, _ := ask(dial()); code == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the place of a closed connection is not given again")
		}
	}
	if code, err := ask(held[1]); code != http.StatusOK {
		t.Errorf("a kept connection: %d, %v", code, err)
	}
}

// TestProfilesAreLocal: clients on this machine get profiles, of which one lasts as long as they say; others get none.
func TestProfilesAreLocal(t *testing.T) {
	n, err := Open(context.Background(), testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, path := range []string{"", "heap", "goroutine", "profile?seconds=1", "trace?seconds=1"} {
		answer, err := http.Get("http://" + n.httpListener.Addr().String() + "/debug/pprof/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK || err != nil || len(body) == 0 {
			t.Errorf("%q: %s, %d bytes, %v", path, answer.Status, len(body), err)
		}
		for _, host := range []string{"", "evil.example", "localhost.evil.example:10080", "192.0.2.1:10080", "[2001:db8::1]:10080"} {
			if code := askProfile(n, path, func(r *http.Request) { r.Host = host }); code != http.StatusForbidden {
				t.Errorf("%q for host %q: %d", path, host, code)
			}
		}
		for _, header := range []string{"Forwarded: for=192.0.2.1", "Via: 1.1 proxy", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: x", "X-Forwarded-Proto: https",
			"X-Real-Ip: 192.0.2.1", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"} {
			name, value, _ := strings.Cut(header, ": ")
			if code := askProfile(n, path, func(r *http.Request) { r.Header.Set(name, value) }); code != http.StatusForbidden {
				t.Errorf("%q with %s: %d", path, header, code)
			}
		}
		if code := askProfile(n, path, func(r *http.Request) { r.URL.Scheme, r.URL.Host = "http", "localhost" }); code != http.StatusForbidden {
			t.Errorf("%q as to a proxy: %d", path, code)
		}
		for _, from := range []string{"192.0.2.1:1234", "[2001:db8::1]:1234", "[::ffff:192.0.2.1]:1234", "?"} {
			if code := askProfile(n, path, func(r *http.Request) { r.RemoteAddr = from }); code != http.StatusForbidden {
				t.Errorf("%q from %s: %d", path, from, code)
			}
		}
	}
	for _, host := range []string{"localhost", "LocalHost:1", "127.0.0.1", "127.9.9.9:10080", "[::1]", "[::1]:10080"} {
		if code := askProfile(n, "heap", func(r *http.Request) { r.Host = host }); code != http.StatusOK {
			t.Errorf("for host %q: %d", host, code)
		}
	}
}

// askProfile asks as a client on this machine does, but for what change does to the request.
func askProfile(n *Node, path string, change func(*http.Request)) int {
	r := httptest.NewRequest(http.MethodGet, "/debug/pprof/"+path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:1234", "127.0.0.1:10080"
	change(r)
	w := httptest.NewRecorder()
	n.http.Handler.ServeHTTP(w, r)
	return w.Code
}

// TestMetricsForEverybody: the page has what dashboards of any Go program read, the build, and latencies by kind of statement, with labels in
// lower case without blanks.
func TestMetricsForEverybody(t *testing.T) {
	n, err := Open(context.Background(), testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	answer, err := http.Get(n.StatusURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, want := range []string{"\ngo_goroutines ", "\nprocess_resident_memory_bytes ", "\ngo_build_info{", `pando_build_info{mysql_version="` + MySQLVersion + Version + `",version="` + Version + `"} 1`,
		"# TYPE pando_statement_duration_seconds histogram", `pando_statement_duration_seconds_bucket{type="select",le="+Inf"} 0`, `pando_commands_total{command="reset_connection"} 0`} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, label := range regexp.MustCompile(`(?m)^pando_\w+\{(?:command|type)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`^[a-z_]+$`).MatchString(label[1]) {
			t.Errorf("label %q", label[1])
		}
	}
}
