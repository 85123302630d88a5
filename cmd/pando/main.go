package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "pando:", err)
		status := 1
		if e := (exitError{}); errors.As(err, &e) {
			status = e.status
		}
		os.Exit(status)
	}
}
