package txn

import "testing"

// TestClustered: transactions do the same if the regions have logs, and requests pass through their encoding or not.
func TestClustered(t *testing.T) {
	clustered = true
	defer func() { clustered, coded = false, false }()
	for _, over := range []string{"loopback", "coded"} {
		coded = over == "coded"
		if coded && testing.Short() { // under the race detector: it copies what the loopback shares, so that less can be seen
			continue
		}
		t.Run(over, func(t *testing.T) {
			for _, c := range []struct {
				name string
				test func(*testing.T)
			}{
				// Those that open a store again come with the switch, which makes Open know such a directory.
				{"Scripts", TestScripts}, {"Model", TestModel}, {"LargeTxn", TestLargeTxn}, {"ListAppend", TestListAppend},
				{"Bank", TestBank}, {"Monotonic", TestMonotonic}, {"Linearizable", TestLinearizable},
			} {
				t.Run(c.name, c.test)
			}
		})
	}
}
