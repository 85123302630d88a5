package session

import (
	"strings"
	"testing"
)

// TestEveryVariableSaysHowItActs: a system variable that can be set acts on sessions or the node, takes its default only, is read where effect
// says, or has no effect and says why when it is set. None does more than one of these and none does nothing in silence, but for those that act
// in a cluster and say so where there is none.
func TestEveryVariableSaysHowItActs(t *testing.T) {
	table := newVariableTable()
	for _, v := range table.list {
		acts := v.apply != nil || v.applyGlobal != nil || v.effect != "" || v.idle == "" && v.check != nil && refusesOthers(v)
		switch {
		case v.readOnly && (v.idle != "" || v.apply != nil || v.applyGlobal != nil):
			t.Errorf("%s is read-only and still acts, or says why it does not", v.name)
		case v.readOnly:
		case v.clustered != (acts && v.idle != ""):
			t.Errorf("%s acts, and says that it does not: %s; in a cluster only: %v", v.name, v.idle, v.clustered)
		case !acts && v.idle == "":
			t.Errorf("%s is silently ignored", v.name)
		}
		if v.scope == 0 {
			t.Errorf("%s has no scope", v.name)
		}
	}
	if len(table.list) < 600 {
		t.Errorf("there are %d variables", len(table.list))
	}
}

// refusesOthers reports whether the check of a variable takes nothing but its default.
func refusesOthers(v *variable) bool {
	for _, value := range []string{"ON", "OFF", "2", "x"} {
		if value == v.def || v.kind == kindBool && len(value) == 1 || v.kind == kindInt && value != "2" {
			continue
		}
		if _, err := v.check(nil, value); err == nil {
			return false
		}
	}
	return true
}

// TestVariablesAsRecorded: variables have the scope and kind that MySQL's have, and can be set if MySQL's can, but for those of a list.
func TestVariablesAsRecorded(t *testing.T) {
	own := newVariableTable()
	for _, v := range recorded() {
		i, ok := own.byName[v.name]
		if !ok {
			t.Errorf("%s is missing", v.name)
			continue
		}
		got := own.list[i]
		if variableAliases[v.name] != "" {
			continue
		}
		if why := differs[v.name]; why != "" {
			continue
		}
		if got.scope != v.scope || got.readOnly != v.readOnly {
			t.Errorf("%s has scope %d and read-only %v, want %d and %v", v.name, got.scope, got.readOnly, v.scope, v.readOnly)
		}
		if got.kind != v.kind && v.kind != kindText && (got.kind != kindText || got.check == nil || v.kind != kindEnum && v.kind != kindSet) {
			t.Errorf("%s has kind %d, want %d", v.name, got.kind, v.kind)
		}
		if got.kind == kindInt && v.kind == kindInt && !v.readOnly && (got.min != v.min || got.max != v.max) {
			t.Errorf("%s is between %d and %d, want %d and %d", v.name, got.min, got.max, v.min, v.max)
		}
		if got.kind == kindEnum && v.kind == kindEnum && strings.Join(got.words, ",") != strings.Join(v.words, ",") {
			t.Errorf("%s has the words %v, want %v", v.name, got.words, v.words)
		}
	}
}

// differs are variables that differ from MySQL's on purpose.
var differs = map[string]string{
	"innodb_buffer_pool_size":  "the node reports the size of its own cache",
	"max_prepared_stmt_count":  "a prepared statement costs little here",
	"regexp_stack_limit":       "0 would lift what keeps the server alive",
	"regexp_time_limit":        "0 would lift what keeps the server alive",
	"require_secure_transport": "it is given at start",
}
