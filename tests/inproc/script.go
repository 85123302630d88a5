package inproc

import (
	"fmt"
	"math"
	"path"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/types"
)

// A statement marked with & counts as waiting when it has not answered for settleTime and the whole process stands still. The time alone
// would not do: a machine that is busy with other things may not have begun with the statement by then. answerTime is how long an answer may
// take, and how long the process may be busy.
const (
	settleTime = 60 * time.Millisecond
	settleStep = 5 * time.Millisecond
	answerTime = time.Minute
)

// Script is one run of a script file. A file starts with a fresh node and one session, root, in the database test.
//
// Commands of the file:
//
//	sql               statements, one per line (lines that begin with white space go on with the one before)
//	reopen            closes the node and opens it over the same files
//	workers           the same, with a pool of as many workers as the input says; "workers eager" has them take part in scans of a few rows
//	explain           as sql, but shows each statement's plan as a tree
//	columns           as sql, but shows the names and types of the result columns
//	rows              tables count as having as many rows as the input says, until they are analysed, so that plans for large ones are shown
//
// A line of sql may begin with a session's name: "a: BEGIN" waits for the answer, "a& UPDATE …" expects the statement to wait for another
// session, and "a?" fetches its answer. Sessions appear at their first use as root's; \connect makes others.
//
//	\connect NAME USER HOST [DATABASE]      \close            \reset           \db NAME
//	\prepare ID text                        \execute ID args  \free ID         \fields TABLE [PATTERN]
type Script struct {
	tb      testing.TB
	options Options
	node    *Node
	conns   map[string]*Conn
	waiting map[string]chan string
	rows    float64 // of a table that nobody has analysed, if not zero
	// Extra are further commands of a package's own scripts.
	Extra map[string]func(s *Script, d *script.Block) string
}

// NewScript opens a script's node.
func NewScript(tb testing.TB, o Options) *Script {
	if o.FS == nil {
		o.FS = engine.NewMemFS()
	}
	s := &Script{tb: tb, options: o}
	s.open()
	s.conns["root"].Must("CREATE DATABASE test")
	s.conns["root"].Must("USE test")
	return s
}

func (s *Script) open() {
	s.node = Open(s.tb, s.options)
	s.conns = map[string]*Conn{"root": s.node.Root("")}
	s.waiting = map[string]chan string{}
}

// Close ends the node.
func (s *Script) Close() { s.node.Close() }

// Node is the script's present node.
func (s *Script) Node() *Node { return s.node }

// Root is the script's first session.
func (s *Script) Root() *Conn { return s.conns["root"] }

// Run executes one command of the file.
func (s *Script) Run(t *testing.T, d *script.Block) string {
	if extra := s.Extra[d.Cmd]; extra != nil {
		return extra(s, d)
	}
	switch d.Cmd {
	case "sql", "explain", "columns":
		var out strings.Builder
		for _, line := range Lines(d.Input) {
			out.WriteString(s.line(d.Cmd, line))
			if s.rows > 0 {
				s.size()
			}
		}
		for _, name := range s.pending() {
			if d.HasArg("wait") {
				break
			}
			out.WriteString("session " + name + " still waits\n")
		}
		return out.String()
	case "workers":
		n, err := strconv.Atoi(strings.TrimSpace(d.Input))
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		if s.options.Workers = exec.NewWorkerPool(n); d.HasArg("eager") {
			s.options.Workers = exec.NewEagerWorkerPool(n, eagerRows)
		}
		s.reopen()
		return ""
	case "reopen":
		s.reopen()
		return ""
	case "rows":
		var err error
		if s.rows, err = strconv.ParseFloat(strings.TrimSpace(d.Input), 64); err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		return ""
	}
	t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	return ""
}

// reopen is a restart of the script's node.
func (s *Script) reopen() {
	s.node.Close()
	s.open()
	if s.node.Catalog.Current().Database("test") != nil {
		s.conns["root"].Must("USE test")
	}
}

// eagerRows is after how many rows the workers of an eager script take part.
const eagerRows = 3

// Lines splits a block into statements.
func Lines(input string) []string {
	var out []string
	for _, line := range strings.Split(input, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case unicode.IsSpace(rune(line[0])) && len(out) > 0:
			out[len(out)-1] += "\n" + strings.TrimSpace(line)
		default:
			out = append(out, line)
		}
	}
	return out
}

// size gives the tables of the script the size that it wants.
func (s *Script) size() {
	for _, t := range s.node.Catalog.Current().Tables("test") {
		if t.View == nil && s.node.Stats.Of(t) == nil {
			if err := s.node.Stats.Put(t, &stats.Table{Rows: s.rows}); err != nil {
				s.tb.Fatal(err)
			}
		}
	}
}

func (s *Script) pending() []string {
	var names []string
	for name := range s.waiting {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// line runs one line of a block and returns its output, each line of which bears the name of a session other than root.
func (s *Script) line(mode, line string) string {
	name, sign, text := "root", byte(':'), line
	end := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end > 0 && strings.IndexByte(":&?", line[end]) >= 0 && !strings.HasPrefix(line[end:], ":=") {
		name, sign, text = line[:end], line[end], strings.TrimSpace(line[end+1:])
	}
	out := ""
	switch {
	case sign == '?':
		out = s.fetch(name)
	case sign == '&':
		c := s.conn(name)
		done := make(chan string, 1)
		go func() { done <- command(c, mode, text) }()
		var answered bool
		if out, answered = settle(done); !answered {
			s.waiting[name] = done
			out = "waits\n"
		}
	case strings.HasPrefix(text, `\connect `) || text == `\close`:
		out = s.connect(name, strings.Fields(text))
	default:
		out = command(s.conn(name), mode, text)
	}
	if name == "root" {
		return out
	}
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		b.WriteString(name + ": " + l + "\n")
	}
	return b.String()
}

// settle returns a statement's answer unless it waits.
func settle(done <-chan string) (out string, answered bool) {
	pause := settleTime
	for still, began := 0, time.Now(); still < 2 && time.Since(began) < answerTime; {
		select {
		case out = <-done:
			return out, true
		case <-time.After(pause):
		}
		pause = settleStep
		if still++; !processStill() {
			still = 0
		}
	}
	select {
	case out = <-done:
		return out, true
	default:
		return "", false
	}
}

// processStill reports whether every other goroutine is blocked.
func processStill() bool {
	dump := make([]byte, 64<<10)
	for n := runtime.Stack(dump, true); ; n = runtime.Stack(dump, true) {
		if n < len(dump) {
			dump = dump[:n]
			break
		}
		dump = make([]byte, 2*len(dump))
	}
	busy := 0
	for _, line := range strings.Split(string(dump), "\n") {
		head, isHead := strings.CutPrefix(line, "goroutine ")
		_, state, found := strings.Cut(head, " [")
		if !isHead || !found {
			continue
		}
		for _, s := range []string{"running", "runnable", "syscall", "preempted", "GC assist"} {
			if strings.HasPrefix(state, s) {
				busy++
			}
		}
	}
	return busy <= 1 // this one runs
}

func (s *Script) fetch(name string) string {
	done := s.waiting[name]
	if done == nil {
		return "does not wait\n"
	}
	delete(s.waiting, name)
	select {
	case out := <-done:
		return out
	case <-time.After(answerTime):
		return "NO ANSWER\n"
	}
}

func (s *Script) conn(name string) *Conn {
	if s.conns[name] == nil {
		s.conns[name] = s.node.Root(s.conns["root"].Database())
	}
	return s.conns[name]
}

func (s *Script) connect(name string, words []string) string {
	if words[0] == `\close` {
		s.conns[name].Close()
		delete(s.conns, name)
		return "ok\n"
	}
	words = append(words, "", "", "")
	c, err := s.node.Connect(words[1], words[2], words[3])
	if err != nil {
		return fmt.Sprintln(err)
	}
	s.conns[name] = c
	return "ok\n"
}

// command runs one statement, or one command of the protocol.
func command(c *Conn, mode, text string) string {
	if strings.HasPrefix(text, `\`) {
		return protocol(c, strings.Fields(text), text)
	}
	text = strings.TrimSuffix(text, ";")
	if mode == "explain" {
		a := c.Exec("EXPLAIN FORMAT=TREE " + text)
		if a.Err != nil {
			return a.String()
		}
		return text + "\n" + a.Rows[0][0] + "\n"
	}
	out := ""
	for _, a := range c.Query(text) {
		if mode == "columns" && a.Err == nil {
			for _, column := range a.Columns {
				out += fmt.Sprintf("%s.%s.%s %s (%s) %s\n", column.Schema, column.Table, column.Name, column.OrgName, column.OrgTable, column.Type.String())
			}
			continue
		}
		out += a.String()
	}
	if c.Closing() {
		out += "the connection ends\n"
	}
	return out
}

func protocol(c *Conn, words []string, text string) string {
	switch words[0] {
	case `\prepare`:
		info, err := c.Prepare([]byte(strings.SplitN(text, " ", 3)[2]))
		if err != nil {
			return (&Answer{Err: err}).String()
		}
		c.prepared[words[1]] = info.ID
		out := fmt.Sprintf("prepared, %d parameters", info.Params)
		for _, column := range info.Columns {
			out += fmt.Sprintf(", %s %s", column.Name, column.Type.String())
		}
		return out + "\n"
	case `\execute`:
		return c.Execute(c.prepared[words[1]], arguments(c, words[2:])...).String()
	case `\free`:
		c.CloseStmt(c.prepared[words[1]])
	case `\reset`:
		if err := c.Reset(); err != nil {
			return (&Answer{Err: err}).String()
		}
	case `\db`:
		if err := c.UseDB(words[1]); err != nil {
			return (&Answer{Err: err}).String()
		}
	case `\fields`:
		columns, err := c.FieldList(words[1], strings.Join(words[2:], ""))
		if err != nil {
			return (&Answer{Err: err}).String()
		}
		out := ""
		for _, column := range columns {
			out += column.Name + " " + column.Type.String() + "\n"
		}
		return out
	default:
		return "unknown command " + words[0] + "\n"
	}
	return "ok\n"
}

// arguments reads parameters: NULL, 1, u1 (unsigned), 1.5 (decimal), 1.5f (double), nan and inf (doubles that no text is), 'text', b'bytes'.
func arguments(c *Conn, words []string) []types.Value {
	var out []types.Value
	for _, w := range words {
		switch {
		case w == "NULL":
			out = append(out, types.Null())
		case w == "nan":
			out = append(out, types.Float(math.NaN()))
		case w == "inf":
			out = append(out, types.Float(math.Inf(1)))
		case strings.HasPrefix(w, "'"):
			out = append(out, types.String([]byte(strings.Trim(w, "'")), c.ParamCollation()))
		case strings.HasPrefix(w, "b'"):
			out = append(out, types.Bytes([]byte(strings.Trim(w[1:], "'"))))
		case strings.HasPrefix(w, "u"):
			v, _, _ := types.ParseDecimal([]byte(w[1:]))
			out = append(out, types.Uint(uint64(types.ToInt(&types.Context{}, &v))))
		case strings.HasSuffix(w, "f"):
			f, _ := types.ParseFloat([]byte(w[:len(w)-1]))
			out = append(out, types.Float(f))
		case strings.Contains(w, "."):
			v, _, _ := types.ParseDecimal([]byte(w))
			out = append(out, v)
		default:
			v, _, _ := types.ParseDecimal([]byte(w))
			out = append(out, types.Int(types.ToInt(&types.Context{}, &v)))
		}
	}
	return out
}

// RunScripts runs every script of a directory, each with a node of its own. begin, if there is one, is called first with the script's name: it may skip it, or let it
// run beside others.
func RunScripts(t *testing.T, dir string, extra map[string]func(*Script, *script.Block) string, begin func(t *testing.T, name string)) {
	open := opener(extra, Options{})
	script.Run(t, dir, func(t *testing.T) script.Commands {
		if begin != nil {
			begin(t, path.Base(t.Name()))
		}
		return open(t)
	})
}

// RunScript runs one script with a node of its own.
func RunScript(t *testing.T, path string, extra map[string]func(*Script, *script.Block) string, o Options) {
	script.RunFile(t, path, opener(extra, o))
}

func opener(extra map[string]func(*Script, *script.Block) string, o Options) func(t *testing.T) script.Commands {
	return func(t *testing.T) script.Commands {
		s := NewScript(t, o)
		s.Extra = extra
		t.Cleanup(s.Close)
		return script.Commands{script.Any: s.Run}
	}
}
