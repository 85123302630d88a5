package transport

import (
	"bytes"
	"reflect"
	"testing"
)

func sampleHello() *hello {
	return &hello{purpose: forClient, cluster: 1 << 63, from: 2, to: 3, incarnation: 4, life: 1 << 60, oldest: 1, newest: 2, address: "h:1", region: 9, network: "tcp", client: "c:2"}
}

func sampleWelcome() *welcome {
	return &welcome{verdict: RefusedTwin, reason: "why", cluster: 1 << 63, node: 2, incarnation: 3, life: 4, version: 5, address: "h:1", others: []place{{7, "h:2"}, {8, "h:3"}}}
}

// FuzzHello: what is taken for a hello is written as it was read, and nothing panics.
func FuzzHello(f *testing.F) {
	f.Add(sampleHello().append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err == nil && !bytes.Equal(h.append(nil), b) {
			t.Errorf("%x is read as %+v", b, h)
		}
	})
}

// FuzzWelcome is the same for a welcome.
func FuzzWelcome(f *testing.F) {
	f.Add(sampleWelcome().append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := decodeWelcome(b)
		if err == nil && !bytes.Equal(w.append(nil), b) {
			t.Errorf("%x is read as %+v", b, w)
		}
	})
}

// FuzzFrames: any bytes are frames up to some point; those that are taken are written as they were read. A link's ends take any of them
// without a panic.
func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, kindPing, make([]byte, 8), nil), kindRequest, []byte{1, 2, 3}, []byte("body")))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, again := bytes.NewReader(b), []byte(nil)
		c := &caller{calls: map[uint64]chan answer{}}
		for {
			k, payload, err := readFrame(r, 1<<20)
			if err != nil {
				break
			}
			again = appendFrame(again, k, payload, nil)
			_ = c.take(k, payload) // an error ends the link
		}
		if !bytes.HasPrefix(b, again) {
			t.Errorf("%x is read as %x", b, again)
		}
	})
}

// TestFields: both sides of the handshake survive it, and no prefix of them is taken.
func TestFields(t *testing.T) {
	h, w := sampleHello(), sampleWelcome()
	hello, welcome := h.append(nil), w.append(nil)
	if got, err := decodeHello(hello); err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := decodeWelcome(welcome); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("%+v %v", got, err)
	}
	for n := range hello {
		if _, err := decodeHello(hello[:n]); err == nil {
			t.Errorf("%d of %d bytes are a hello", n, len(hello))
		}
	}
	for n := range welcome {
		if _, err := decodeWelcome(welcome[:n]); err == nil {
			t.Errorf("%d of %d bytes are a welcome", n, len(welcome))
		}
	}
}
