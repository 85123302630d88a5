package testkit

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"time"
)

// Small draws limits, so that a test meets at once what the product's own let happen under much load only: a third of those with a tag `least:"…"` is the
// least, a third is a small multiple of it, and the others are left as they are, which means the default. `most:"…"` bounds what is drawn. limits points
// to a struct whose fields are numbers, durations and such structs; those without a tag are left alone. The test tells them beside its seed.
func Small(rng *rand.Rand, limits any) { small(rng, reflect.ValueOf(limits).Elem()) }

// smallFactor bounds how many times the least a small number is.
const smallFactor = 64

func small(rng *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		f, tag := v.Field(i), v.Type().Field(i).Tag
		if f.Kind() == reflect.Struct {
			small(rng, f)
			continue
		}
		text, drawn := tag.Lookup("least")
		if !drawn {
			continue
		}
		least, most := bound(f, text), int64(0)
		n := least
		switch rng.IntN(3) {
		case 0:
			n = least * (1 + rng.Int64N(smallFactor))
		case 1:
			continue
		}
		if text, is := tag.Lookup("most"); is {
			most = bound(f, text)
			n = min(n, most)
		}
		if f.CanInt() {
			f.SetInt(n)
		} else {
			f.SetUint(uint64(n))
		}
	}
}

// bound reads a number or duration of a tag.
func bound(f reflect.Value, text string) int64 {
	if _, is := f.Interface().(time.Duration); is {
		d, err := time.ParseDuration(text)
		if err != nil {
			panic(fmt.Sprintf("tag %q: %v", text, err))
		}
		return int64(d)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("tag %q: %v", text, err))
	}
	return n
}
