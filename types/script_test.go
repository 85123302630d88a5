package types

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/script"
)

// TestScripts runs testdata: each line of a command's input is one value, and
// prints one line of output, followed by the diagnostics it raised.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata", func(*testing.T) script.Commands {
		return script.Commands{script.Any: func(t *testing.T, d *script.Block) string {
			return script.EachLine(d, func(line string) string {
				ctx := scriptContext(t, d)
				out := runScriptLine(t, d, ctx, line)
				for _, w := range ctx.Warnings() {
					out += fmt.Sprintf(" | %v %d %s", w.Level, w.Number, w.Message)
				}
				return out
			})
		}}
	})
}

func scriptContext(t *testing.T, d *script.Block) *Context {
	ctx := &Context{SQLMode: ModeDefault, Strict: d.HasArg("strict"), Now: func() time.Time {
		return time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)
	}}
	if d.HasArg("mode") {
		var mode string
		d.ScanArgs(t, "mode", &mode)
		ctx.SQLMode = map[string]SQLMode{"none": 0, "invalid": ModeAllowInvalidDates, "truncate": ModeTimeTruncateFrac}[mode]
	}
	if d.HasArg("zone") {
		var zone string
		d.ScanArgs(t, "zone", &zone)
		loc, err := ParseTimeZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		ctx.Loc = loc
	}
	return ctx
}

func quoted(v Value, err error, ctx *Context) string {
	if err != nil {
		return err.Error()
	}
	if v.K == KindNull {
		return "NULL"
	}
	text := string(AppendText(nil, ctx, &v))
	switch v.K {
	case KindInt, KindUint, KindDecimal, KindFloat:
		return text
	}
	return strconv.Quote(text)
}

func runScriptLine(t *testing.T, d *script.Block, ctx *Context, line string) string {
	switch d.Cmd {
	case "convert":
		ty := parseTestType(t, scriptArg(t, d, "type"))
		v, err := Convert(ctx, parseTestLiteral(unescape(line)), ty, "c", 1)
		return line + " -> " + quoted(v, err, ctx)
	case "cast":
		ty := parseTestType(t, scriptArg(t, d, "type"))
		v, err := Cast(ctx, parseTestLiteral(unescape(line)), ty)
		return line + " -> " + quoted(v, err, ctx)
	case "mixed":
		a, b, _ := strings.Cut(line, " ? ")
		return line + " -> " + strconv.Itoa(CompareMixed(ctx, parseTestLiteral(a), parseTestLiteral(b), Utf8mb4GeneralCI))
	case "type":
		ty := parseTestType(t, line)
		return fmt.Sprintf("%v wire=%#x length=%d charset=%d flags=%#x decimals=%d", ty, ty.WireType(), ty.WireLength(nil),
			ty.WireCharset(nil), ty.WireFlags(), ty.WireDecimals())
	case "key":
		ty := parseTestType(t, scriptArg(t, d, "type"))
		v, err := Convert(ctx, parseTestLiteral(unescape(line)), ty, "c", 1)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s -> %x stored %x", line, AppendKey(nil, v, &ty, d.HasArg("desc"), 0), AppendStored(nil, v, &ty))
	case "error":
		n, args, _ := strings.Cut(line, " ")
		num, _ := strconv.Atoi(n)
		var as []any
		for _, a := range strings.Split(args, "|") {
			as = append(as, a)
		}
		return Errorf(uint16(num), as...).Error()
	case "interval":
		return scriptInterval(ctx, line)
	case "json":
		out, msg, pos, _ := ParseJSON(nil, []byte(line))
		if msg != "" {
			return fmt.Sprintf("%s -> %s at %d", line, msg, pos)
		}
		return line + " -> " + string(out)
	case "collation":
		c, err := LookupCollation(line)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s id=%d charset=%s default=%v pad=%v bin=%v", c.Name(), c, c.Charset().Name, c.IsDefault(), c.PadSpace(), c.IsBin())
	case "charset":
		cs, err := LookupCharset(line)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s %q %d..%d default=%s bin=%s", cs.Name, cs.Description, cs.MinLen, cs.MaxLen, cs.Default.Name(), cs.Bin.Name())
	case "zone":
		loc, err := ParseTimeZone(line)
		if err != nil {
			return err.Error()
		}
		return loc.String()
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

func scriptInterval(ctx *Context, line string) string {
	f := strings.Fields(line)
	amount := Text(strings.ReplaceAll(f[1], "~", " "))
	unit, ok := ParseIntervalUnit(f[2])
	if !ok {
		return "no unit " + f[2]
	}
	v := Text(strings.ReplaceAll(f[0], "_", " "))
	at, ok := ToDatetime(ctx, &v)
	if !ok {
		return line + " -> no date"
	}
	iv, ok := ParseInterval(ctx, &amount, unit)
	if !ok {
		return line + " -> NULL"
	}
	out, ok := AddInterval(at.N, iv)
	if !ok {
		return line + " -> NULL"
	}
	return line + " -> " + string(AppendDatetime(nil, out, 6))
}

func scriptArg(t *testing.T, d *script.Block, name string) string {
	t.Helper()
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return strings.Replace(strings.Replace(strings.Join(a.Vals, ","), "_unsigned", " unsigned", 1), "_collate_", " collate ", 1)
		}
	}
	t.Fatalf("%s: no argument %s", d.Cmd, name)
	return ""
}

// unescape reads \xHH in a literal.
func unescape(s string) string {
	for {
		i := strings.Index(s, `\x`)
		if i < 0 {
			return s
		}
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			return s
		}
		s = s[:i] + string([]byte{byte(n)}) + s[i+4:]
	}
}
