package check

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// RegisterOp is one operation on a register.
type RegisterOp struct {
	Client     int
	Key        string
	Write      bool
	Value      int // written, or read; zero is the initial value
	Call, Done int64
}

// registerModel is a set of independent registers with initial value zero.
var registerModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(RegisterOp).Key
			byKey[key] = append(byKey[key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		op := input.(RegisterOp)
		if op.Write {
			return true, op.Value
		}
		return op.Value == state.(int), state
	},
}

// Linearizable reports whether the operations can be ordered, within their real
// time, so that every read returns the write before it. The second result is
// false if the time ran out before an answer.
func Linearizable(ops []RegisterOp, timeout time.Duration) (ok, decided bool) {
	history := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		history[i] = porcupine.Operation{ClientId: op.Client, Input: op, Output: 0, Call: op.Call, Return: op.Done}
	}
	switch porcupine.CheckOperationsTimeout(registerModel, history, timeout) {
	case porcupine.Ok:
		return true, true
	case porcupine.Illegal:
		return false, true
	}
	return false, false
}

// Monotonic returns the position of the first value that is lower than one
// before it, or -1: what one client reads of a counter that only grows.
func Monotonic(reads []int) int {
	for i := 1; i < len(reads); i++ {
		if reads[i] < reads[i-1] {
			return i
		}
	}
	return -1
}

// Bank returns the position of the first reading of all accounts whose sum is
// not total, or -1.
func Bank(readings [][]int, total int) int {
	for i, accounts := range readings {
		sum := 0
		for _, n := range accounts {
			sum += n
		}
		if sum != total {
			return i
		}
	}
	return -1
}
