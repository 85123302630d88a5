package session

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/types"
)

// scope says whether a system variable has a global value, one of each session, or both.
type scope uint8

const (
	scopeGlobal scope = 1 << iota
	scopeSession
	scopeBoth = scopeGlobal | scopeSession
)

// kind says which values a system variable takes and how it is shown.
type kind uint8

const (
	kindBool kind = iota // shown ON or OFF; takes 0, 1, ON, OFF; TRUE and FALSE are numbers
	kindInt              // between min and max; clamped with warning 1292 as MySQL does
	kindEnum             // one of words, by name or, as a number, position
	kindSet              // some of words, separated by commas
	kindText
	kindFloat
)

// variable describes one system variable. The table of them is immutable; values live in valueSet.
type variable struct {
	name  string
	scope scope
	kind  kind
	def   string
	min   int64
	max   uint64
	// step is what the value of an integer is rounded down to a multiple of, 0 for any.
	step     uint64
	words    []string
	readOnly bool
	// given: a session keeps the global value of the time when it began, and cannot set its own (1621).
	given bool
	// guarded: setting the session's value needs a privilege, too, because it hides changes from replicas in MySQL.
	guarded bool
	// hint says that SET_VAR may set it for one statement.
	hint bool
	// effect says what reads the value of a variable without apply, applyGlobal and check.
	effect string
	// idle says why setting the variable changes nothing; a SET of it raises a warning with this text.
	idle string
	// byNumber returns the name that a number stands for in a text variable, or text if none; nil refuses numbers.
	byNumber func(n int64, text string) string
	// clustered says that idle does not apply if the node belongs to a cluster.
	clustered bool
	// check normalises or refuses a value before it is stored; nil takes it as it is. s is nil for a setting given at start.
	check func(s *Session, value string) (string, error)
	// apply acts on a session's new value; applyGlobal on the node's.
	apply       func(s *Session, value string) error
	applyGlobal func(n *Node, value string) error
	// around calls change, which sets a new global value, at a time when that is permitted; if around is nil it is set at once.
	around func(s *Session, value string, change func() error) error
	// dynamic computes the value at each read instead of storing it.
	dynamic func(s *Session) types.Value
}

// variableTable holds all system variables, sorted by name: first those of which sessions have values, so that a session's valueSet holds the
// first part only, then the others.
type variableTable struct {
	list     []*variable
	byName   map[string]int
	sessions int   // length of the first part
	applied  []int // indexes of those in the first part whose apply must be called for a new session
}

func newVariableTable() *variableTable {
	t := &variableTable{byName: map[string]int{}}
	told := map[string]*variable{}
	for _, group := range [][]*variable{sessionVariables(), idleSessionVariables(), globalVariables(), foreignVariables(), informationVariables()} {
		for _, v := range group {
			if told[v.name] != nil {
				panic("system variable listed twice: " + v.name)
			}
			told[v.name] = v
		}
		t.list = append(t.list, group...)
	}
	for _, v := range recorded() {
		if variableAliases[v.name] != "" {
			continue
		}
		if own := told[v.name]; own != nil {
			own.hint = v.hint
			own.step = v.step
			if own.readOnly && own.dynamic == nil {
				own.kind, own.min = v.kind, v.min
			}
			if own.kind == kindFloat && v.kind == kindFloat && own.idle != "" {
				own.max = v.max
			}
			if own.idle != "" && own.kind == kindInt && v.kind == kindInt && own.def != "" && own.name != "innodb_buffer_pool_size" {
				own.min, own.max = v.min, v.max
			}
			continue
		}
		if value, ok := trueValues[v.name]; ok {
			v.def = value
		}
		told[v.name] = v
		t.list = append(t.list, v)
	}
	slices.SortFunc(t.list, func(a, b *variable) int {
		if x, y := a.scope&scopeSession, b.scope&scopeSession; x != y {
			return cmp.Compare(y, x)
		}
		return strings.Compare(a.name, b.name)
	})
	for i, v := range t.list {
		t.byName[v.name] = i
		if v.scope&scopeSession == 0 {
			continue
		}
		t.sessions = i + 1
		if v.apply != nil && !contextual(v) {
			t.applied = append(t.applied, i)
		}
	}
	for alias, name := range variableAliases {
		t.byName[alias] = t.byName[name]
	}
	return t
}

// variableAliases are older names that clients still read and set.
var variableAliases = map[string]string{
	"tx_isolation":   "transaction_isolation",
	"tx_read_only":   "transaction_read_only",
	"storage_engine": "default_storage_engine",
	"identity":       "last_insert_id",
}

// valueSet holds the values of the variables by their index in variableTable.list; that of a session only those of the first part. Sessions share
// one until they change a value, so that thousands of idle sessions cost nothing: it must be copied before writing.
type valueSet []string

func (t *variableTable) defaults() valueSet {
	set := make(valueSet, len(t.list))
	for i, v := range t.list {
		set[i] = v.def
	}
	return set
}

// lookup finds a variable by its lower-case name.
func (t *variableTable) lookup(name string) (int, *variable, error) {
	i, ok := t.byName[strings.ToLower(name)]
	if !ok {
		return 0, nil, types.Errorf(types.ErUnknownSystemVariable, name)
	}
	return i, t.list[i], nil
}

// parse turns a SQL value into the variable's canonical text. warn is called if the value was clamped.
func (v *variable) parse(value types.Value, warn func(number uint16, args ...any)) (string, error) {
	if _, takes := nullVariables[v.name]; value.IsNull() && !takes {
		if v.kind == kindInt || v.kind == kindFloat { // NULL is a text, as MySQL has it
			return "", types.Errorf(types.ErWrongTypeForVar, v.name)
		}
		return "", types.Errorf(types.ErWrongValueForVar, v.name, "NULL")
	}
	text := string(types.AppendText(nil, nil, &value))
	if value.K == types.KindString {
		text = types.InUTF8(text, value.Coll.Charset())
	}
	named := value.K == types.KindString
	if fraction := value.K == types.KindDecimal || value.K == types.KindFloat; fraction && v.kind != kindFloat || named && (v.kind == kindInt || v.kind == kindFloat) {
		return "", types.Errorf(types.ErWrongTypeForVar, v.name)
	}
	switch v.kind {
	case kindBool:
		return v.parseBool(text, named)
	case kindInt:
		return v.parseInt(text, warn)
	case kindFloat:
		return v.parseFloat(text, warn)
	case kindEnum:
		if n, err := strconv.Atoi(text); !named && err == nil && n >= 0 && n < len(v.words) {
			return v.words[n], nil
		}
		for _, word := range v.words {
			if strings.EqualFold(word, text) {
				return word, nil
			}
		}
		return "", types.Errorf(types.ErWrongValueForVar, v.name, text)
	case kindSet:
		return v.parseSet(text, named)
	}
	if value.IsNull() {
		return "", nil
	}
	if value.K == types.KindInt || value.K == types.KindUint {
		if v.byNumber == nil {
			return "", types.Errorf(types.ErWrongTypeForVar, v.name)
		}
		return v.byNumber(value.N, text), nil
	}
	return text, nil
}

// parseBool takes ON and OFF by name, and 1 and 0 as numbers.
func (v *variable) parseBool(text string, named bool) (string, error) {
	switch {
	case strings.EqualFold(text, "ON") || !named && text == "1":
		return "ON", nil
	case strings.EqualFold(text, "OFF") || !named && text == "0":
		return "OFF", nil
	}
	return "", types.Errorf(types.ErWrongValueForVar, v.name, text)
}

// parseSet takes names separated by commas, or a number with a bit for each name.
func (v *variable) parseSet(text string, named bool) (string, error) {
	var bits uint64
	if named && text != "" {
		for _, part := range strings.Split(text, ",") {
			if part == "" {
				continue
			}
			at := slices.IndexFunc(v.words, func(word string) bool { return strings.EqualFold(word, part) })
			if at < 0 {
				return "", types.Errorf(types.ErWrongValueForVar, v.name, part)
			}
			bits |= 1 << at
		}
	} else if n, err := strconv.ParseUint(text, 10, 64); err == nil && n < 1<<len(v.words) {
		bits = n
	} else if text != "" {
		return "", types.Errorf(types.ErWrongValueForVar, v.name, text)
	}
	var names []string
	for i, word := range v.words {
		if bits&(1<<i) != 0 {
			names = append(names, word)
		}
	}
	return strings.Join(names, ","), nil
}

func (v *variable) parseFloat(text string, warn func(uint16, ...any)) (string, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", types.Errorf(types.ErWrongTypeForVar, v.name)
	}
	if f < 0 || v.max > 0 && f > float64(v.max) {
		warn(types.ErTruncatedWrongValue, v.name, text)
		f = min(max(f, 0), float64(v.max))
	}
	return fmt.Sprintf("%.6f", f), nil
}

func (v *variable) parseInt(text string, warn func(uint16, ...any)) (string, error) {
	fits, err := v.clamped(text, warn)
	if u, _ := strconv.ParseUint(fits, 10, 64); err == nil && v.step > 1 && u%v.step != 0 {
		if fits == text {
			warn(types.ErTruncatedWrongValue, v.name, text)
		}
		return strconv.FormatUint(max(u-u%v.step, uint64(v.min)), 10), nil
	}
	return fits, err
}

// clamped is an integer between the variable's bounds.
func (v *variable) clamped(text string, warn func(uint16, ...any)) (string, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		u, uerr := strconv.ParseUint(text, 10, 64)
		if uerr != nil {
			return "", types.Errorf(types.ErWrongTypeForVar, v.name)
		}
		if u > v.max {
			warn(types.ErTruncatedWrongValue, v.name, text)
			u = v.max
		}
		return strconv.FormatUint(u, 10), nil
	}
	switch {
	case n < v.min:
		warn(types.ErTruncatedWrongValue, v.name, text)
		n = v.min
	case n >= 0 && uint64(n) > v.max:
		warn(types.ErTruncatedWrongValue, v.name, text)
		return strconv.FormatUint(v.max, 10), nil
	}
	return strconv.FormatInt(n, 10), nil
}

// value is the SQL value of @@name for the stored text: a number for booleans and integers, unsigned unless min is negative.
func (v *variable) value(text string) types.Value {
	switch v.kind {
	case kindBool:
		return types.Int(boolInt(text == "ON"))
	case kindInt:
		if v.min < 0 {
			n, _ := strconv.ParseInt(text, 10, 64) // parse wrote it
			return types.Int(n)
		}
		n, _ := strconv.ParseUint(text, 10, 64)
		return types.Uint(n)
	case kindFloat:
		f, _ := strconv.ParseFloat(text, 64) // parse wrote it
		return types.Float(f)
	}
	if text == "" && nullVariables[v.name] {
		return types.Null()
	}
	return types.String([]byte(text), types.Utf8mb3GeneralCI)
}

// nullVariables are those that SET takes NULL for, as MySQL does, which is an empty text here: for some, which are NULL by default, that is shown as NULL.
var nullVariables = map[string]bool{
	"character_set_results": true, "admin_ssl_ca": true, "admin_ssl_capath": true, "admin_ssl_cert": true, "admin_ssl_cipher": true, "admin_ssl_crl": true,
	"admin_ssl_crlpath": true, "admin_ssl_key": true, "admin_tls_ciphersuites": true, "external_table_secondary_storage_engine": true,
	"external_table_storage_engine": true, "innodb_ft_aux_table": true, "innodb_ft_server_stopword_table": true, "innodb_ft_user_stopword_table": true,
	"innodb_redo_log_archive_dirs": true, "innodb_tmpdir": true, "ssl_ca": true, "ssl_capath": true, "ssl_cert": true, "ssl_cipher": true, "ssl_crl": true,
	"ssl_crlpath": true, "ssl_key": true, "tls_ciphersuites": true,
	"admin_address": true, "external_user": true, "init_file": true, "innodb_data_home_dir": true, "innodb_directories": true, "innodb_doublewrite_dir": true,
	"innodb_monitor_disable": true, "innodb_monitor_enable": true, "innodb_monitor_reset": true, "innodb_monitor_reset_all": true, "log_bin_basename": true,
	"log_bin_index": true, "proxy_user": true, "report_host": true, "report_password": true, "report_user": true,
	"init_connect": false, "init_replica": false, "init_slave": false, "mandatory_roles": false, "session_track_system_variables": false,
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
