package dictionary

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// TestSchemas: SHOW and information_schema answer about generated schemas what a MySQL answers, to the letter.
// PANDO_ANSWERS names a folder that the recorder has filled with MySQL's answers, to see the differences.
func TestSchemas(t *testing.T) {
	recorded, err := os.ReadFile("testdata/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, c := inproc.OpenDatabase(t)
	compared := 0
	for _, line := range strings.Split(string(recorded), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		seed, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		compared++
		c.Must("DROP DATABASE IF EXISTS d")
		c.Must("CREATE DATABASE d")
		c.Must("USE d")
		made := c.Exec(Schema(seed))
		if fields[1] == "!" {
			if made.Err == nil {
				t.Errorf("seed %d: MySQL refuses %s", seed, Schema(seed))
			}
			continue
		}
		if made.Err != nil {
			t.Errorf("seed %d: %s: %v", seed, Schema(seed), made.Err)
			continue
		}
		for i, question := range Questions {
			got := Render(c.Must(question).Rows)
			if Sum(got) == fields[1+i] {
				continue
			}
			want, _ := os.ReadFile(os.Getenv("PANDO_ANSWERS") + "/" + fields[0] + "-" + strconv.Itoa(i))
			t.Errorf("seed %d: %s\n%s\nanswers\n%s\nand not what MySQL does\n%s", seed, Schema(seed), question, got, want)
		}
	}
	if compared != Schemas {
		t.Errorf("%d schemas were compared, want %d", compared, Schemas)
	}
}
