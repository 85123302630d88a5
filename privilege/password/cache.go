package password

import (
	"crypto/sha256"
	"crypto/subtle"
	"runtime"
	"sync"
)

// cacheMax bounds the passwords that a Cache remembers.
const cacheMax = 10_000

// Cache remembers the digest of passwords of caching_sha2_password that were verified in full, so that the next connection needs no slow hash
// and no password in transit. The zero value is empty. Safe for concurrent use.
type Cache struct {
	mu      sync.Mutex // guards entries; held for map operations only
	entries map[cacheKey][sha256.Size]byte
	// slots bounds how many slow hashes run at once.
	slotsOnce sync.Once
	slots     chan struct{}
}

// cacheKey holds the stored hash: when that changes, the entry is never found again.
type cacheKey struct{ account, stored string }

// Knows reports whether reply answers the challenge salt by the password that was verified for an account and what it has stored.
func (c *Cache) Knows(account string, stored, salt, reply []byte) bool {
	digest, known := c.get(cacheKey{account, string(stored)})
	return known && checkFastSHA2(&digest, salt, reply)
}

// Verify verifies a password in the clear, and remembers a right one.
func (c *Cache) Verify(account string, stored, password []byte) bool {
	key, fast := cacheKey{account, string(stored)}, fastDigest(password)
	ok := c.slow(func() bool {
		// Of a thousand connections that come at once, all may have found the cache empty. The first to finish spares the rest.
		if digest, known := c.get(key); known && subtle.ConstantTimeCompare(digest[:], fast[:]) == 1 {
			return true
		}
		return checkCachingSHA2(stored, password)
	})
	if ok {
		c.put(key, fast)
	}
	return ok
}

func (c *Cache) get(key cacheKey) (digest [sha256.Size]byte, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	digest, known = c.entries[key]
	return digest, known
}

func (c *Cache) put(key cacheKey, digest [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= cacheMax {
		c.entries = make(map[cacheKey][sha256.Size]byte) // forgetting costs each account one slow login
	}
	c.entries[key] = digest
}

// slow runs f when fewer than one per core of its kind are running.
func (c *Cache) slow(f func() bool) bool {
	c.slotsOnce.Do(func() { c.slots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0))) })
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	return f()
}
