package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/types"
)

// TestScripts runs testdata/eval: every line of an "eval" block is an expression, answered with its value and warnings; "type" answers with
// the result's type, "print" with its text, "error" with the error alone.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/eval", func(*testing.T) script.Commands {
		return script.Pick(func(t *testing.T, d *script.Block) string {
			var out strings.Builder
			x := newBinder()
			if d.HasArg("strict") {
				x.b.Ctx.Strict = true
			}
			if d.HasArg("nounsigned") {
				x.b.Ctx.SQLMode |= types.ModeNoUnsignedSubtraction
			}
			for _, line := range strings.Split(d.Input, "\n") {
				switch d.Cmd {
				case "eval":
					v, warnings := evaluate(t, x, line)
					out.WriteString(v)
					for _, w := range warnings {
						out.WriteString("  -- " + w)
					}
				case "type":
					e, err := x.parse(line)
					if err != nil {
						out.WriteString(err.Error())
						break
					}
					ty := e.Type()
					fmt.Fprintf(&out, "%s len=%d scale=%d coll=%d coer=%d", ty.Name(), ty.Length, ty.Scale, ty.Coll, e.Coercibility())
					if ty.Unsigned {
						out.WriteString(" unsigned")
					}
				case "print":
					x.b.NoFold = true
					e, err := x.parse(line)
					if err != nil {
						out.WriteString(err.Error())
						break
					}
					out.WriteString(e.String())
				}
				out.WriteByte('\n')
			}
			return out.String()
		}, "eval", "type", "print")
	})
}
