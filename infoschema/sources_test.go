package infoschema

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/types"
)

// TestSources: a virtual table has rows, is a view, or says why it is empty; never two of these. Views parse, and the columns by which rows
// are found are columns of the table that hold names.
func TestSources(t *testing.T) {
	for schema, group := range sources() {
		for _, s := range sorted(group) {
			name := schema + "." + s.layout.name
			ways := 0
			for _, way := range []bool{s.rows != nil, s.view != "", s.empty != ""} {
				if way {
					ways++
				}
			}
			if ways != 1 {
				t.Errorf("%s has rows in %d ways", name, ways)
			}
			if s.view != "" {
				if _, err := parseQuery(s.view); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, key := range []string{s.schema, s.table, s.also} {
				if at := s.layout.column(key); key != "" && (at < 0 || s.layout.columns[at].kind.Coll != types.Utf8mb3Bin) {
					t.Errorf("%s is found by %s, which is no column that tells names apart as the catalog does", name, key)
				}
			}
		}
	}
}

// TestRecordedTypes: the types that the dictionary shows are the ones that columns have, but where a limit of ours is lower.
func TestRecordedTypes(t *testing.T) {
	for _, group := range layouts() {
		for _, l := range group {
			for i := range l.columns {
				c := &l.columns[i]
				got := strings.TrimSuffix(c.kind.String(), "(0)")
				if want := strings.TrimSuffix(c.shown, "(0)"); got != want && !strings.HasPrefix(want, "decimal") && !strings.HasPrefix(want, "float") && !strings.HasPrefix(want, "double(") && want != "tinyint(1)" {
					t.Errorf("%s.%s.%s is %s, and shown as %s", l.schema, l.name, c.name, got, want)
				}
			}
		}
	}
}

// TestZones: every time zone that mysql.time_zone_name lists can be used.
func TestZones(t *testing.T) {
	for _, name := range strings.Fields(recordedZones) {
		if _, err := types.ParseTimeZone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
