package server

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"testing"
)

// TestRootPage: the status port's root is a page whose links lead somewhere, and other paths are still not found.
func TestRootPage(t *testing.T) {
	n, err := Open(context.Background(), testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	get := func(path string) (int, string) {
		r, err := http.Get(n.StatusURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	code, page := get("/")
	links := regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if code != 200 || len(links) < 4 {
		t.Fatalf("%d: %s", code, page)
	}
	for _, link := range links {
		if code, _ := get(link[1]); code != 200 {
			t.Errorf("%s answers %d", link[1], code)
		}
	}
	if code, _ := get("/nothing"); code != 404 {
		t.Errorf("an unknown path answers %d", code)
	}
}

// TestPasswordBeyondLoopback: a node whose root has no password listens to this machine only.
func TestPasswordBeyondLoopback(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", ":0"} {
		o := testOptions(t)
		o.Listen = listen
		n, err := Open(context.Background(), o)
		if err == nil {
			_ = n.Close()
			t.Errorf("%s is listened to without a password", listen)
		} else if !regexp.MustCompile(`root has no password.*ALTER USER`).MatchString(err.Error()) {
			t.Errorf("%s: %v", listen, err)
		}
	}
}
