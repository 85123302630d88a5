package wire

import "github.com/pandodb/pando/status"

// Kind classifies a statement by its first word. The latency metrics have one histogram per kind.
type Kind uint8

// The kinds of statements.
const (
	KindSelect Kind = iota
	KindInsert
	KindReplace
	KindUpdate
	KindDelete
	KindBegin
	KindCommit
	KindRollback
	KindSet
	KindShow
	KindDDL
	KindOther
	NumKinds
)

// String is the kind as a label.
func (k Kind) String() string {
	return [NumKinds]string{"select", "insert", "replace", "update", "delete", "begin", "commit", "rollback", "set", "show", "ddl", "other"}[k]
}

// verbs are the words that statements begin with, in lower case.
var verbs = map[string]Kind{
	"select": KindSelect, "with": KindSelect, "table": KindSelect, "values": KindSelect, "insert": KindInsert, "replace": KindReplace, "update": KindUpdate,
	"delete": KindDelete, "begin": KindBegin, "start": KindBegin, "commit": KindCommit, "rollback": KindRollback, "set": KindSet, "show": KindShow,
	"describe": KindShow, "desc": KindShow, "explain": KindShow, "create": KindDDL, "alter": KindDDL, "drop": KindDDL, "rename": KindDDL, "truncate": KindDDL,
}

// verbBytesMax is the length of the longest of them.
const verbBytesMax = 8

// kindOf classifies a statement by its first word, of several in one text the first. A text whose first word it does not find, as behind a
// comment that begins with -- or #, counts as KindOther; nothing but metrics depends on it. It allocates nothing.
func kindOf(sql []byte) Kind {
	i := skipBlank(sql)
	var word [verbBytesMax]byte
	n := 0
	for ; i < len(sql); i++ {
		c := sql[i] | 0x20
		if c < 'a' || c > 'z' {
			break
		}
		if n == len(word) {
			return KindOther
		}
		word[n] = c
		n++
	}
	if kind, ok := verbs[string(word[:n])]; ok {
		return kind
	}
	return KindOther
}

// skipBlank returns where the first word begins, after blanks, opening parentheses and comments of the form /* */.
func skipBlank(sql []byte) int {
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(':
		case c == '/' && i+1 < len(sql) && sql[i+1] == '*':
			for i += 2; i+1 < len(sql) && (sql[i] != '*' || sql[i+1] != '/'); i++ {
			}
			i++
		default:
			return i
		}
	}
	return len(sql)
}

// Latencies sets into to the durations of all statements of a kind: from the command that was read to the answer that was written to the socket.
func (s *Server) Latencies(k Kind, into *status.Histogram) {
	var shards [counterShards]*status.Histogram
	for i := range s.counters.shards {
		shards[i] = &s.counters.shards[i].latencies[k]
	}
	into.SetSum(shards[:]...)
}
