package check

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Recorder collects what clients saw and did, of lists or of a bank, and judges it at the end. A value is text: the numbers of a list, or
// the balance of an account. It is safe for concurrent use.
type Recorder struct {
	accounts, balance int // of a bank; no accounts: lists

	mu        sync.Mutex // guards what follows
	txns      []Txn
	sums      [][]int // what was read of all accounts at once
	committed int
}

// NewLists returns a recorder of transactions that append to lists.
func NewLists() *Recorder { return &Recorder{} }

// NewBank returns a recorder of transactions that move money between so many accounts, each of which begins with a balance.
func NewBank(accounts, balance int) *Recorder {
	return &Recorder{accounts: accounts, balance: balance}
}

// Bank reports whether it is one of a bank.
func (r *Recorder) Bank() bool { return r.accounts > 0 }

// Numbers reads a value.
func Numbers(value string) []int {
	out := []int{}
	for _, f := range strings.Fields(value) {
		n, err := strconv.Atoi(f)
		if err != nil {
			panic(err)
		}
		out = append(out, n)
	}
	return out
}

// Read notes what a transaction has read of a key.
func (r *Recorder) Read(t *Txn, key, value string) {
	t.Ops = append(t.Ops, Op{Key: key, Read: Numbers(value)})
}

// Write notes what a transaction has read of the key that it writes as its nth, from 0, and returns what it is to write: the list with the
// transaction's id, or a balance. The second account of a bank's transaction gives one to the first.
func (r *Recorder) Write(t *Txn, n int, key, value string, id int) (written string) {
	r.Read(t, key, value)
	if r.Bank() {
		return strconv.Itoa(Numbers(value)[0] + 1 - 2*n)
	}
	t.Ops = append(t.Ops, Op{Key: key, Append: id})
	return strings.TrimSpace(value + " " + strconv.Itoa(id))
}

// Ended takes a transaction whose Outcome, Begin and End are known.
func (r *Recorder) Ended(t Txn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.txns = append(r.txns, t)
	if t.Outcome != Committed {
		return
	}
	r.committed++
	if r.Bank() && len(t.Ops) == r.accounts {
		var balances []int
		for _, op := range t.Ops {
			balances = append(balances, op.Read...)
		}
		r.sums = append(r.sums, balances)
	}
}

// Count returns how many transactions have ended, and how many of them have committed.
func (r *Recorder) Count() (ended, committed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.txns), r.committed
}

// Faults returns what is wrong. The last transaction read everything after all others had ended.
func (r *Recorder) Faults() (faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Bank() {
		if at := Bank(r.sums, r.accounts*r.balance); at >= 0 {
			faults = append(faults, fmt.Sprintf("balances %v do not add up", r.sums[at]))
		}
		return faults
	}
	for _, a := range ListAppend(r.txns) {
		faults = append(faults, a.String())
	}
	return faults
}
