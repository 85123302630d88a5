package main

import (
	"fmt"
	"strings"
)

// What trials in Go print; those that are modules of their own take this file along. checks.py and checks.js are the same for others.

var failed bool

func check(name string, step func() error) {
	if err := step(); err != nil {
		failed = true
		fmt.Printf("not ok - %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	fmt.Println("ok - " + name)
}

func equal[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}
