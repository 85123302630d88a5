// Package kv routes requests by key.
package kv
