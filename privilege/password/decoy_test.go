package password

import (
	"fmt"
	"testing"
)

// TestDecoySecrets: a name without an account has the same secret each time, in the form that costs as much to verify as another's.
func TestDecoySecrets(t *testing.T) {
	var d Decoys
	if err := d.Init(); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []string{CachingSHA2, Native} {
		ghost, real := d.Secret(plugin, "ghost"), Hash(plugin, []byte("x"))
		form := 1
		if plugin == CachingSHA2 {
			form = cryptSaltAt
		}
		if len(ghost) != len(real) || string(ghost[:form]) != string(real[:form]) {
			t.Errorf("decoy %q is not like %q", ghost, real)
		}
		if string(d.Secret(plugin, "ghost")) != string(ghost) || string(d.Secret(plugin, "spectre")) == string(ghost) {
			t.Errorf("decoys of %s change, or are all the same", plugin)
		}
	}
}

// TestDecoyPlugins: names without an account are asked by either plugin as often as accounts are, each always by the same.
func TestDecoyPlugins(t *testing.T) {
	var d Decoys
	if err := d.Init(); err != nil {
		t.Fatal(err)
	}
	native := 0
	for i := range 1000 {
		name := fmt.Sprint("u", i)
		plugin := d.Plugin(name, 0.5)
		if plugin == Native {
			native++
		}
		if d.Plugin(name, 0) != CachingSHA2 || d.Plugin(name, 1) != Native || d.Plugin(name, 0.5) != plugin {
			t.Fatalf("%s: a share of none, all, or the same again", name)
		}
	}
	if native < 350 || native > 650 { // nine standard deviations
		t.Errorf("%d of 1000 names are asked by the native plugin", native)
	}
}
