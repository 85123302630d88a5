package ddl

import (
	"time"

	"github.com/pandodb/pando/types"
)

// SetBuildSlice sets how long a slice of a resumed build is; the function returned sets it back. No executor may be open.
func SetBuildSlice(d time.Duration) (restore func()) {
	was := buildSlice
	buildSlice = d
	return func() { buildSlice = was }
}

// SetFillRows sets how many rows a batch of a build has at most; the function returned sets it back. No executor may be open.
func SetFillRows(n int) (restore func()) {
	was := fillRowsMax
	fillRowsMax = n
	return func() { fillRowsMax = was }
}

// BeforeFill sets what is called between the reading of a batch of a build and its writing. No build may be under way.
func (e *Executor) BeforeFill(f func()) { e.beforeFill = f }

// CheckMembers is the check of the members of an ENUM or SET column.
func CheckMembers(t types.Type) error { return checkMembers(&ColumnSpec{Name: "c", Type: t}) }

// CreateIndex is ALTER TABLE with one ADD INDEX.
func (e *Executor) CreateIndex(c *Call, n Name, spec IndexSpec) error {
	return e.AlterTable(c, n, []AlterSpec{AddIndex{spec}})
}
