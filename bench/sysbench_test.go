package bench

import (
	"reflect"
	"strings"
	"testing"
)

// finalOutput is what sysbench 1.0.20 prints, shortened.
const finalOutput = `Running the test with following options:
Number of threads: 16
Report intermediate results every 1 second(s)

Threads started!

[ 1s ] thds: 16 tps: 2400.11 qps: 48010.55 (r/w/o: 33610.00/9600.22/4800.33) lat (ms,95%): 9.06 err/s: 1.00 reconn/s: 0.00
[ 2s ] thds: 16 tps: 2500.00 qps: 50000.00 (r/w/o: 35000.00/10000.00/5000.00) lat (ms,95%): 8.90 err/s: 0.00 reconn/s: 0.00
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       2.106 |                                         1
       6.437 |**************************************** 4000
       9.060 |*******                                  700
      22.280 |**                                       190
      41.102 |                                         10
 
SQL statistics:
    queries performed:
        read:                            68614
        total:                           98020
    transactions:                        4901   (2449.20 per sec.)
    queries:                             98020  (48984.02 per sec.)
    ignored errors:                      3      (1.50 per sec.)
    reconnects:                          2      (1.00 per sec.)

General statistics:
    total time:                          2.0008s
    total number of events:              4901

Latency (ms):
         min:                                    2.11
         avg:                                    6.52
         max:                                   41.30
         95th percentile:                        9.06
         sum:                                31954.21
`

func TestParseFigures(t *testing.T) {
	got, err := parseFigures(finalOutput)
	if err != nil {
		t.Fatal(err)
	}
	want := Figures{Seconds: 2.0008, Transactions: 4901, Queries: 98020, TPS: 2449.20, QPS: 48984.02, IgnoredErrors: 3, Reconnects: 2,
		Latency: Latency{AvgMillis: 6.52, P50Millis: 6.437, P95Millis: 9.060, P99Millis: 22.28, P999Millis: 41.102, MaxMillis: 41.30, Histogram: got.Histogram}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if text, err := got.Histogram.MarshalText(); err != nil || got.Histogram.count() != 4901 || string(text) != "2:1,0,0,0,4000,700,0,0,190,0,10" {
		t.Errorf("histogram %s, %v", text, err)
	}
	for _, broken := range []string{"", "FATAL: unable to connect", strings.ReplaceAll(finalOutput, "4901", "0")} {
		if _, err := parseFigures(broken); err == nil {
			t.Errorf("no error for %.40q", broken)
		}
	}
}

func TestReadOutput(t *testing.T) {
	var seen []Interval
	kept := readOutput(strings.NewReader(finalOutput), func(i Interval) { seen = append(seen, i) })
	if kept != finalOutput {
		t.Errorf("kept %q", kept)
	}
	want := []Interval{{Second: 1, TPS: 2400.11, QPS: 48010.55, P95: 9.06, Errors: 1}, {Second: 2, TPS: 2500, QPS: 50000, P95: 8.90}}
	if len(seen) != 2 || seen[0] != want[0] || seen[1] != want[1] {
		t.Errorf("got %+v", seen)
	}
}

func TestFailureOf(t *testing.T) {
	output := "Initializing worker threads...\n\nFATAL: `thread_run' function failed: oltp.lua:409: SQL error, errno = 1213\n" +
		"FATAL: mysql_drv_query() returned error 1146 (Table 'sbtest.sbtest9' doesn't exist) for query 'SELECT 1'\nFATAL: error 1146 again\n"
	text, numbers := failureOf(output, nil)
	if !strings.Contains(text, "1146") || numbers["1146"] != 2 {
		t.Errorf("got %q, %v", text, numbers)
	}
	if text, _ := failureOf(finalOutput, nil); text != "" {
		t.Errorf("a good run failed with %q", text)
	}
}

// TestClipped: a report has the beginning and the end of a long failure, in whole characters.
func TestClipped(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	const head, tail = failureHead, failureTail
	for _, test := range []struct{ text, want string }{
		{x(head + tail), x(head + tail)},
		{x(head+tail-2) + "ä", x(head+tail-2) + "ä"},
		{x(head) + "y" + x(tail), x(head) + " … " + x(tail)},
		{x(head-1) + "ä" + x(tail), x(head-1) + " … " + x(tail)},
		{x(head) + "ä" + x(tail-1), x(head) + " … " + x(tail-1)},
		{x(head-2) + "ä" + x(999) + "ä" + x(tail-2), x(head-2) + "ä … ä" + x(tail-2)},
	} {
		if got := clipped(test.text); got != test.want {
			t.Errorf("%d bytes become %q", len(test.text), got)
		}
	}
}

func TestCommandsHideSecrets(t *testing.T) {
	target := &Target{Name: "x", Address: "10.1.2.3:4444", Password: "geheim"}
	plan, err := LoadPlan("compare")
	if err != nil {
		t.Fatal(err)
	}
	step := plan.Workloads[3].Steps()[0]
	args := runArgs(plan, target, step, 3)
	if real := strings.Join(args, " "); !strings.Contains(real, "geheim") || !strings.Contains(real, "--time=3") || !strings.HasPrefix(real, "oltp_point_select ") {
		t.Errorf("the command itself is wrong: %s", real)
	}
	public := publicCommand(args, target)
	for _, secret := range []string{"geheim", "10.1.2.3", "4444"} {
		if strings.Contains(public, secret) {
			t.Errorf("%s is in %s", secret, public)
		}
	}
}

// Each user logs in with its own password.
func TestPasswordsBelongToUsers(t *testing.T) {
	for _, c := range []struct{ driver, user, want string }{{"", "root", "of-root"}, {"", "sbtest", "of-user"}, {"pgsql", "sbtest", "of-root"}} {
		target := &Target{Address: "h:1", Driver: c.driver, Password: "of-root", userPassword: "of-user"}
		if args := strings.Join(connectArgs(target, c.user, "d"), " "); !strings.HasSuffix(args, "password="+c.want) {
			t.Errorf("%s %s: %s", c.driver, c.user, args)
		}
	}
}

// What is stored names no address, account, password or path of the machine, and keeps its numbers.
func TestRedact(t *testing.T) {
	local := &Target{Address: "127.0.0.1:4000", Password: "geheim", userPassword: "Pb1-X", dir: "/scratch/pando-bench-1/pando-2"}
	named := &Target{Address: "db1:3306"}
	copies := &Target{Address: "127.0.0.1:4000", nodes: []*Target{{Address: "127.0.0.1:4000"}, {Address: "127.0.0.1:4001"}}}
	six := &Target{Address: "[::1]:4000"}
	for _, c := range []struct {
		target   *Target
		in, want string
	}{
		{local, "FATAL: error 2002: Can't connect to server on '127.0.0.1' (115)", "FATAL: error 2002: Can't connect to server on '$HOST' (115)"},
		{local, "FATAL: error 1045: Access denied for user 'sbtest'@'localhost' (using password: NO)", "FATAL: error 1045: Access denied for user '$USER'@'$HOST' (using password: NO)"},
		{local, "dial tcp 127.0.0.1:4000: connection refused", "dial tcp $HOST:$PORT: connection refused"},
		{local, "read tcp 10.0.0.7:50312->127.0.0.1:4000: timeout", "read tcp $HOST:$PORT->$HOST:$PORT: timeout"},
		{local, "port 4000 failed, 14000 rows, error 4000x", "port $PORT failed, 14000 rows, error 4000x"},
		{local, "open /scratch/pando-bench-1/pando-2/data: IDENTIFIED BY 'Pb1-X' geheim", "open $DIR/data: IDENTIFIED BY '$PASSWORD' $PASSWORD"},
		{named, "lookup db1 on 10.0.0.2:53: no such host; db1, db12", "lookup $HOST on $HOST:$PORT: no such host; $HOST, db12"},
		{six, "dial tcp [::1]:4000: refused", "dial tcp $HOST:$PORT: refused"},
		{local, "it took 15 seconds instead of 1: the server stalled", "it took 15 seconds instead of 1: the server stalled"},
		{copies, strings.Join(connectArgs(copies, "root", "d"), " "), "--db-driver=mysql --mysql-host=$HOST --mysql-port=$PORTS --mysql-user=root --mysql-db=d"},
		{&Target{}, "version 10.11.19", "version 10.11.19"},
	} {
		if got := c.target.redact(c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
	s := &session{root: "/scratch/pando-bench-1", Options: Options{Binary: "/programs/pando"}, result: &Result{Targets: []TargetInfo{{Name: "x"}}}}
	s.note(&Target{Name: "x"}, "fork/exec /programs/pando: no; /scratch/pando-bench-1/x")
	if got := s.result.Targets[0].Failures[0]; got != "fork/exec $DIR: no; $DIR/x" {
		t.Error(got)
	}
}
