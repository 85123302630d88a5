package infoschema

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/pandodb/pando/exec"
)

// SessionHistory is what a session has done last and does now.
type SessionHistory struct {
	Session uint64
	Ended   []StatementEvent // the latest last
	// Running is the statement at hand as it may be shown, empty for none.
	Running string
}

// StatementEvent is one statement that has ended.
type StatementEvent struct {
	Number               uint64 // of the session's statements
	Start, Took          time.Duration
	Schema, Text         string
	Hash                 [32]byte
	Errors               uint64
	Warnings             uint64
	Affected, Sent       uint64
	Examined, Sorted     uint64
	MergePasses, TmpDisk uint64
	Memory               int64
	Profile              exec.Profile
}

func historySources() map[string]source {
	return map[string]source{
		"events_statements_current": filled(statementsCurrent),
		"events_statements_history": filled(statementsHistory),
	}
}

// statementsCurrent has the statement that each session runs, or the last one of a session that runs none, as in MySQL.
func statementsCurrent(q *query) error {
	for _, h := range q.History() {
		if h.Running != "" {
			number := uint64(1)
			if n := len(h.Ended); n > 0 {
				number = h.Ended[n-1].Number + 1
			}
			if err := q.emitNamed("THREAD_ID", h.Session, "EVENT_ID", number, "EVENT_NAME", eventName(h.Running), "SQL_TEXT", h.Running, "EXECUTION_ENGINE", "PRIMARY"); err != nil {
				return err
			}
			continue
		}
		if n := len(h.Ended); n > 0 {
			if err := q.statementEvent(h.Session, &h.Ended[n-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func statementsHistory(q *query) error {
	for _, h := range q.History() {
		for i := range h.Ended {
			if err := q.statementEvent(h.Session, &h.Ended[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// statementEvent sends a row. SQL_TEXT is the text without its literals: those of single executions are not kept, and may be secrets.
func (q *query) statementEvent(session uint64, e *StatementEvent) error {
	p := &e.Profile
	return q.emitNamed("THREAD_ID", session, "EVENT_ID", e.Number, "END_EVENT_ID", e.Number, "EVENT_NAME", eventName(e.Text), "TIMER_START", picoseconds(e.Start),
		"TIMER_END", picoseconds(e.Start+e.Took), "TIMER_WAIT", picoseconds(e.Took), "SQL_TEXT", e.Text, "DIGEST", hex.EncodeToString(e.Hash[:]), "DIGEST_TEXT", e.Text,
		"CURRENT_SCHEMA", orNull(e.Schema), "ERRORS", e.Errors, "WARNINGS", e.Warnings, "ROWS_AFFECTED", e.Affected, "ROWS_SENT", e.Sent,
		"ROWS_EXAMINED", e.Examined, "CREATED_TMP_DISK_TABLES", e.TmpDisk, "CREATED_TMP_TABLES", uint64(p[exec.TmpTables]),
		"SELECT_FULL_JOIN", uint64(p[exec.SelectFullJoin]), "SELECT_FULL_RANGE_JOIN", uint64(p[exec.SelectFullRangeJoin]), "SELECT_RANGE", uint64(p[exec.SelectRange]),
		"SELECT_SCAN", uint64(p[exec.SelectScan]), "SORT_MERGE_PASSES", e.MergePasses, "SORT_ROWS", e.Sorted, "SORT_SCAN", uint64(p[exec.SortScan]),
		"NO_INDEX_USED", uint64(p[exec.NoIndexUsed]), "STATEMENT_ID", e.Number, "MAX_CONTROLLED_MEMORY", e.Memory, "MAX_TOTAL_MEMORY", e.Memory, "EXECUTION_ENGINE", "PRIMARY")
}

// eventName is MySQL's name of the instrument of a statement, as far as its first word tells.
func eventName(text string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n("), " ")
	word = strings.ToLower(word)
	switch word {
	case "select", "insert", "update", "delete", "replace", "begin", "commit", "rollback", "savepoint", "truncate", "set", "flush", "kill", "call", "analyze", "check", "checksum",
		"optimize", "load", "grant", "revoke", "do":
		if word == "set" {
			word = "set_option"
		}
		return "statement/sql/" + word
	case "with", "table", "values":
		return "statement/sql/select"
	}
	return "statement/sql/other"
}
