package ddl_test

import (
	"strconv"
	"testing"

	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/types"
)

// TestManyMembers: the largest number of members of an ENUM is checked in about the time that hashing takes, and equal members are found by the collation.
func TestManyMembers(t *testing.T) {
	const members = 65_535
	enum := types.Type{ID: types.TypeEnum, Coll: types.DefaultCollation}
	for i := range members {
		enum.Elems = append(enum.Elems, "é"+strconv.Itoa(i))
	}
	if err := ddl.CheckMembers(enum); err != nil {
		t.Error(err)
	}
	enum.Elems[members-1] = "E7"
	if err := ddl.CheckMembers(enum); err == nil {
		t.Error("é7 and E7 are different members")
	}
}
