package infoschema

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/types"
)

func pairs(list [][2]string, emit func(...any) error) error {
	for _, pair := range list {
		if err := emit(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func sessionVariables(q *query) error { return pairs(q.Variables(false), q.emit) }
func globalVariables(q *query) error  { return pairs(q.Variables(true), q.emit) }
func sessionStatus(q *query) error    { return pairs(q.Status(false), q.emit) }
func globalStatus(q *query) error     { return pairs(q.Status(true), q.emit) }

func persistedVariables(q *query) error {
	list, err := q.Persisted()
	if err != nil {
		return err
	}
	return pairs(list, q.emit)
}

func variablesInfo(q *query) error {
	for _, v := range q.VariableInfos() {
		if err := q.emit(v.Name, v.Source, "", orNull(v.Min), orNull(v.Max), at(v.Set), orNull(v.User), orNull(v.Host)); err != nil {
			return err
		}
	}
	return nil
}

func processlist(q *query) error {
	for _, p := range q.Processes(false) {
		if err := q.emit(p.ID, p.User, p.Host, orNull(p.Database), p.Command, p.Seconds, p.State, orNull(p.Info), "PRIMARY"); err != nil {
			return err
		}
	}
	return nil
}

func threads(q *query) error {
	for _, p := range q.Processes(true) {
		kind := "TCP/IP"
		if p.Secure {
			kind = "SSL/TLS"
		}
		err := q.emitNamed("THREAD_ID", p.ID, "NAME", "thread/sql/one_connection", "TYPE", "FOREGROUND", "PROCESSLIST_ID", p.ID, "PROCESSLIST_USER", p.User,
			"PROCESSLIST_HOST", hostOf(p.Host), "PROCESSLIST_DB", orNull(p.Database), "PROCESSLIST_COMMAND", p.Command, "PROCESSLIST_TIME", p.Seconds,
			"PROCESSLIST_STATE", orNull(p.State), "PROCESSLIST_INFO", orNull(p.Info), "INSTRUMENTED", "YES", "HISTORY", "YES", "CONNECTION_TYPE", kind,
			"EXECUTION_ENGINE", "PRIMARY", "TELEMETRY_ACTIVE", "NO")
		if err != nil {
			return err
		}
	}
	return nil
}

// hostOf is a client's address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

func connectAttributes(q *query) error { return q.attributes(q.Processes(true)) }

// ownAttributes are those of the account's connections.
func ownAttributes(q *query) error {
	own := q.Account().Name()
	return q.attributes(slices.DeleteFunc(q.Processes(true), func(p Process) bool { return p.Account != own }))
}

func (q *query) attributes(list []Process) error {
	for _, p := range list {
		for i, a := range p.Attributes {
			if err := q.emit(p.ID, a[0], orNull(a[1]), i); err != nil {
				return err
			}
		}
	}
	return nil
}

// counted are the connections by a part of who made them.
func (q *query) counted(part func(Process) []any) error {
	type group struct {
		key   []any
		count int
	}
	groups := map[string]*group{}
	var order []string
	for _, p := range q.Processes(true) {
		key := part(p)
		name := ""
		for _, k := range key {
			name += k.(string) + "\x00"
		}
		if groups[name] == nil {
			groups[name] = &group{key: key}
			order = append(order, name)
		}
		groups[name].count++
	}
	slices.Sort(order)
	for _, name := range order {
		g := groups[name]
		if err := q.emit(append(g.key, g.count, g.count)...); err != nil {
			return err
		}
	}
	return nil
}

func users(q *query) error {
	return q.counted(func(p Process) []any { return []any{p.User} })
}

func hosts(q *query) error {
	return q.counted(func(p Process) []any { return []any{hostOf(p.Host)} })
}

func accounts(q *query) error {
	return q.counted(func(p Process) []any { return []any{p.User, hostOf(p.Host)} })
}

// ownThread is the thread of the session that asks. What other sessions keep to themselves can't be read while they run.
func (q *query) ownThread() uint64 {
	for _, p := range q.Processes(true) {
		if p.Own {
			return p.ID
		}
	}
	return 0
}

func userVariables(q *query) error {
	thread := q.ownThread()
	for _, v := range q.UserVariables() {
		var text any
		if !v.Value.IsNull() {
			text = types.AppendText(nil, nil, &v.Value)
		}
		if err := q.emit(thread, v.Name, text); err != nil {
			return err
		}
	}
	return nil
}

func variablesByThread(q *query) error {
	thread := q.ownThread()
	return pairs(q.Variables(false), func(values ...any) error { return q.emit(append([]any{thread}, values...)...) })
}

// eachCounter calls f for counters in the order of their names.
func eachCounter(counters map[string]uint64, f func(name, value string) error) error {
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if err := f(name, strconv.FormatUint(counters[name], 10)); err != nil {
			return err
		}
	}
	return nil
}

// statusByThread has the counters of every session that is open.
func statusByThread(q *query) error {
	all := q.SessionStatus()
	for _, p := range q.Processes(true) {
		err := eachCounter(all[p.ID], func(name, value string) error { return q.emit(p.ID, name, value) })
		if err != nil {
			return err
		}
	}
	return nil
}

// statusBy adds up the counters of the sessions that are open, by a part of who they are.
func (q *query) statusBy(part func(p Process) []string) error {
	all, sums := q.SessionStatus(), map[string]map[string]uint64{}
	for _, p := range q.Processes(true) {
		key := strings.Join(part(p), "\x00")
		if sums[key] == nil {
			sums[key] = map[string]uint64{}
		}
		for name, n := range all[p.ID] {
			sums[key][name] += n
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		var row []any
		for _, k := range strings.Split(key, "\x00") {
			row = append(row, k)
		}
		err := eachCounter(sums[key], func(name, value string) error { return q.emit(append(slices.Clone(row), name, value)...) })
		if err != nil {
			return err
		}
	}
	return nil
}

func statusByAccount(q *query) error {
	return q.statusBy(func(p Process) []string { return []string{p.User, hostOf(p.Host)} })
}

func statusByUser(q *query) error {
	return q.statusBy(func(p Process) []string { return []string{p.User} })
}

func statusByHost(q *query) error {
	return q.statusBy(func(p Process) []string { return []string{hostOf(p.Host)} })
}

func preparedStatements(q *query) error {
	thread := q.ownThread()
	for i, p := range q.Prepared() {
		err := q.emitNamed("OBJECT_INSTANCE_BEGIN", i+1, "STATEMENT_ID", p.ID, "STATEMENT_NAME", orNull(p.Name), "SQL_TEXT", p.Text, "OWNER_THREAD_ID", thread,
			"EXECUTION_ENGINE", "PRIMARY", "COUNT_EXECUTE", p.Executions)
		if err != nil {
			return err
		}
	}
	return nil
}

func setupActors(q *query) error { return q.emit("%", "%", "%", "YES", "YES") }

// setupConsumers lists which of MySQL's consumers have a counterpart.
func setupConsumers(q *query) error {
	for _, c := range []string{"events_statements_current", "events_statements_history", "global_instrumentation", "thread_instrumentation", "statements_digest"} {
		if err := q.emit(c, "YES"); err != nil {
			return err
		}
	}
	return nil
}

func setupThreads(q *query) error {
	return q.emit("thread/sql/one_connection", "YES", "YES", "user", 0, nil)
}

func timers(q *query) error {
	for _, t := range []struct {
		name      string
		frequency int
	}{{"NANOSECOND", 1e9}, {"MICROSECOND", 1e6}, {"MILLISECOND", 1e3}} {
		if err := q.emit(t.name, t.frequency, 1, nil); err != nil {
			return err
		}
	}
	return nil
}

// tlsChannels tells how the session's own listener speaks TLS.
func tlsChannels(q *query) error {
	for _, v := range q.Variables(true) {
		if property, ok := strings.CutPrefix(v[0], "tls_"); ok {
			if err := q.emit("mysql_main", "Current_tls_"+property, v[1]); err != nil {
				return err
			}
		}
	}
	return nil
}
