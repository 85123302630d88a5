package bench

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/pandodb/pando/bench/tpch"
)

//go:embed plans
var planFiles embed.FS

// Kinds of workload. KindRun is sysbench's run command over prepared tables; the others, but for KindRestart, bring their own data or need none.
const (
	KindRun   = "run"
	KindLoad  = "load"  // sysbench prepare of fresh tables, timed
	KindBulk  = "bulk"  // sysbench's bulk_insert
	KindStorm = "storm" // log in, ask once, leave; again and again
	KindStart = "start" // an empty directory until the first answer, then memory at rest
	// KindRestart kills a server in the middle of sysbench's run over prepared tables, and starts it again.
	KindRestart = "restart"
	// KindIndex adds an index to one of sysbench's tables while clients of a script change it.
	KindIndex  = "index"
	KindImport = "import" // a dump of sysbench's tables, loaded again by pando import, or by the client of others
	KindTPCC   = "tpcc"   // TPC-C's transactions, see bench/tpcc; mode auto is prepared, disable is text
	KindTPCH   = "tpch"   // one of TPC-H's queries, again and again, see bench/tpch
)

// When the tables of a workload are made anew. Deletes and inserts change the tables, faster servers change them more.
const (
	ReloadWorkload = "workload"
	ReloadStep     = "step"
)

// Limits of a plan; the loader refuses what could only be a slip of the pen.
const (
	tablesMax  = 1024
	rowsMax    = 1_000_000_000
	threadsMax = 65_536
	roundsMax  = 1000

	warehousesMax = 10_000
	factorMax     = 1000
	factorMin     = 0.01 // --scale goes no lower

	rowsMin = 1000 // --scale goes no lower: smaller tables measure row locks

	scaledCacheMin = int64(64 << 20) // --scale goes no lower here either
)

// Plan is what to measure. Its zero fields take the values of withDefaults.
type Plan struct {
	Name           string     `json:"name"`
	Title          string     `json:"title,omitempty"`
	Source         string     `json:"source,omitempty"` // the published report
	Notes          []string   `json:"notes,omitempty"`
	Tables         int        `json:"tables"`
	Rows           int        `json:"rows"` // in each table
	PrepareThreads int        `json:"prepare_threads,omitempty"`
	PrepareOptions []string   `json:"prepare_options,omitempty"`
	Analyze        bool       `json:"analyze,omitempty"`
	CacheBytes     int64      `json:"cache_bytes"`
	MaxConnections int        `json:"max_connections,omitempty"`
	Rounds         int        `json:"rounds"`
	WarmupSeconds  int        `json:"warmup_seconds,omitempty"`
	Seconds        int        `json:"seconds"`
	StillSeconds   int        `json:"still_seconds,omitempty"` // files without a change for so long have settled after the first load
	ReportInterval int        `json:"report_interval,omitempty"`
	RandType       string     `json:"rand_type,omitempty"` // empty: sysbench's default, special
	PSModes        []string   `json:"ps_modes,omitempty"`
	Threads        []int      `json:"threads"`
	User           string     `json:"user,omitempty"`
	Options        []string   `json:"options,omitempty"`     // for every run
	Clients        string     `json:"clients,omitempty"`     // here or apart, see placement
	ServerCPUs     int        `json:"server_cpus,omitempty"` // how many processors the servers share; 0: what the clients leave
	Demands        Demands    `json:"demands,omitzero"`      // of each workload of kind run
	Limits         Limits     `json:"limits,omitzero"`
	Workloads      []Workload `json:"workloads"`
}

// Workload is one row of the plan. Its zero fields take the plan's values.
type Workload struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind,omitempty"`
	Script     string   `json:"script,omitempty"`
	Tables     int      `json:"tables,omitempty"`
	Rows       int      `json:"rows,omitempty"`
	Warehouses int      `json:"warehouses,omitempty"`   // of TPC-C
	Query      int      `json:"query,omitempty"`        // of TPC-H
	Factor     float64  `json:"scale_factor,omitempty"` // of TPC-H
	Threads    []int    `json:"threads,omitempty"`
	PSModes    []string `json:"ps_modes,omitempty"`
	Seconds    int      `json:"seconds,omitempty"`
	Rounds     int      `json:"rounds,omitempty"`
	// WarmupSeconds are those of a run before the first round, which fills the server's caches.
	WarmupSeconds int      `json:"warmup_seconds,omitempty"`
	RandType      string   `json:"rand_type,omitempty"`
	Options       []string `json:"options,omitempty"`
	Reload        string   `json:"reload,omitempty"`
	Trivial       bool     `json:"trivial,omitempty"` // the trivial responder can answer it
	Demands       Demands  `json:"demands,omitzero"`
}

// Demands are what the subject must reach beside the base: limits of the geometric mean of a workload's ratios over its steps. Zero demands
// nothing.
type Demands struct {
	RateMin float64 `json:"rate_min,omitempty"`
	// OneClientRateMin is for the steps of one client, which RateMin then leaves out: where one fdatasync bounds both sides.
	OneClientRateMin float64 `json:"one_client_rate_min,omitempty"`
	MeanMax          float64 `json:"mean_max,omitempty"`
	P99Max           float64 `json:"p99_max,omitempty"`
	CPUMax           float64 `json:"cpu_max,omitempty"` // per query
}

// or takes from d what is not zero, and the rest from a plan.
func (d Demands) or(plan Demands) Demands {
	setDefault(&d.RateMin, plan.RateMin)
	setDefault(&d.OneClientRateMin, plan.OneClientRateMin)
	setDefault(&d.MeanMax, plan.MeanMax)
	setDefault(&d.P99Max, plan.P99Max)
	setDefault(&d.CPUMax, plan.CPUMax)
	return d
}

// Limits hold for a whole session.
type Limits struct {
	DiskRatioMax float64 `json:"disk_ratio_max,omitempty"` // bytes of a row at rest
	// WrittenRatioMax is for the bytes that the server writes for a transaction, whose own are the same on both sides. LongestMillisMax is
	// for the subject's longest latency in any round, MemoryOfCacheMax for its memory over the cache's, both in each step.
	WrittenRatioMax   float64 `json:"written_ratio_max,omitempty"`
	LongestMillisMax  float64 `json:"longest_ms_max,omitempty"`
	MemoryOfCacheMax  float64 `json:"memory_of_cache_max,omitempty"`
	StartSecondsMax   float64 `json:"start_seconds_max,omitempty"`
	RestartSecondsMax float64 `json:"restart_seconds_max,omitempty"`
	IdleBytesMax      int64   `json:"idle_bytes_max,omitempty"`
}

// Step is one workload in one mode at one thread count.
type Step struct {
	Workload *Workload
	PSMode   string
	Threads  int
}

func (s Step) String() string {
	return fmt.Sprintf("%s ps=%s threads=%d", s.Workload.Name, s.PSMode, s.Threads)
}

// PlanNames lists the plans that come with the program.
func PlanNames() []string {
	var names []string
	_ = fs.WalkDir(planFiles, "plans", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(path, "plans/"), ".json"))
		}
		return err
	})
	sort.Strings(names)
	return names
}

// LoadPlan reads a plan that comes with the program by its name, or any plan by its file name.
func LoadPlan(name string) (*Plan, error) {
	text, err := planFiles.ReadFile("plans/" + name + ".json")
	if err != nil {
		if text, err = os.ReadFile(name); err != nil {
			return nil, fmt.Errorf("no plan %q: it is neither a file nor one of %s", name, strings.Join(PlanNames(), ", "))
		}
	}
	plan, err := ParsePlan(text)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", name, err)
	}
	return plan, nil
}

// ParsePlan reads and completes a plan. Unknown keys are refused: a misspelt floor would demand nothing.
func ParsePlan(text []byte) (*Plan, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	plan := &Plan{}
	if err := decoder.Decode(plan); err != nil {
		return nil, err
	}
	plan.withDefaults()
	return plan, plan.Validate()
}

func (p *Plan) withDefaults() {
	setDefault(&p.PrepareThreads, max(1, min(p.Tables, 16)))
	setDefault(&p.MaxConnections, 4096)
	setDefault(&p.StillSeconds, stillSeconds)
	setDefault(&p.ReportInterval, 1)
	setDefault(&p.User, "root")
	setDefault(&p.Clients, ClientsHere)
	setDefault(&p.Rounds, 5)
	if len(p.PSModes) == 0 {
		p.PSModes = []string{"auto"}
	}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		setDefault(&w.Kind, KindRun)
		setDefault(&w.Tables, p.Tables)
		setDefault(&w.Rows, p.Rows)
		setDefault(&w.Seconds, p.Seconds)
		setDefault(&w.Rounds, p.Rounds)
		setDefault(&w.WarmupSeconds, p.WarmupSeconds)
		setDefault(&w.RandType, p.RandType)
		if w.hasModes() || w.Kind == KindTPCH {
			w.Demands = w.Demands.or(p.Demands)
		}
		if len(w.Threads) == 0 {
			w.Threads = p.Threads
		}
		if len(w.PSModes) == 0 {
			w.PSModes = p.PSModes
		}
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate lists everything that is wrong with the plan.
func (p *Plan) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(p.Name != "", "name is missing")
	check(p.CacheBytes >= 16<<20, "cache_bytes is %d, below 16 MiB", p.CacheBytes)
	check(p.WarmupSeconds >= 0, "warmup_seconds is %d", p.WarmupSeconds)
	check(p.StillSeconds >= 1 && p.StillSeconds < int(settleMax.Seconds()), "still_seconds is %d", p.StillSeconds)
	check(len(p.Workloads) > 0, "there are no workloads")
	check(p.Clients == ClientsHere || p.Clients == ClientsApart, "clients are %q, neither %s nor %s", p.Clients, ClientsHere, ClientsApart)
	check(p.ServerCPUs >= 0, "server_cpus is %d", p.ServerCPUs)
	seen := map[string]bool{}
	for i := range p.Workloads {
		w := &p.Workloads[i]
		check(w.Name != "" && !seen[w.Name], "workload %d: the name %q is empty or taken", i+1, w.Name)
		seen[w.Name] = true
		check(slices.Contains([]string{KindRun, KindLoad, KindBulk, KindStorm, KindStart, KindRestart, KindIndex, KindImport, KindTPCC, KindTPCH}, w.Kind), "%s: unknown kind %q", w.Name, w.Kind)
		check(!w.runsScript() || w.Script != "", "%s: script is missing", w.Name)
		check(w.Seconds >= 1, "%s: seconds is %d", w.Name, w.Seconds)
		check(w.WarmupSeconds >= 0, "%s: warmup_seconds is %d", w.Name, w.WarmupSeconds)
		check(w.hasLatency() || w.Demands.MeanMax+w.Demands.P99Max+w.Demands.CPUMax == 0, "%s: latency and CPU per query of kind %s are not measured", w.Name, w.Kind)
		check(!w.timesStarts() || w.Demands == Demands{}, "%s: kind %s is not compared", w.Name, w.Kind)
		check(!(w.ownClients() || w.Kind == KindImport) || p.Clients != ClientsApart, "%s: the clients of kind %s belong to this process and can't be apart", w.Name, w.Kind)
		check(w.Rounds >= 1 && w.Rounds <= roundsMax, "%s: rounds is %d", w.Name, w.Rounds)
		check(slices.Contains([]string{"", ReloadStep, ReloadWorkload}, w.Reload), "%s: unknown reload %q", w.Name, w.Reload)
		check(!w.sysbenchRows() || (w.Tables >= 1 && w.Tables <= tablesMax), "%s: tables is %d", w.Name, w.Tables)
		check(!w.sysbenchRows() || (w.Rows >= 1 && w.Rows <= rowsMax), "%s: rows is %d", w.Name, w.Rows)
		check(w.Kind != KindTPCC || (w.Warehouses >= 1 && w.Warehouses <= warehousesMax), "%s: warehouses is %d", w.Name, w.Warehouses)
		check(w.Kind != KindTPCH || (w.Query >= 1 && w.Query <= tpch.Queries), "%s: query is %d", w.Name, w.Query)
		check(w.Kind != KindTPCH || (w.Factor > 0 && w.Factor <= factorMax), "%s: scale_factor is %g", w.Name, w.Factor)
		check(w.Kind != KindTPCH || slices.Equal(w.Threads, []int{1}), "%s: kind %s has one client", w.Name, w.Kind)
		check(len(w.Threads) > 0, "%s: there are no threads", w.Name)
		for _, n := range w.Threads {
			check(n >= 1 && n <= threadsMax, "%s: threads is %d", w.Name, n)
			check(n < p.MaxConnections, "%s: %d threads do not fit max_connections %d", w.Name, n, p.MaxConnections)
		}
		check(distinct(w.Threads), "%s: threads %v names a count twice", w.Name, w.Threads)
		check(distinct(w.PSModes), "%s: ps modes %v name a mode twice", w.Name, w.PSModes)
		for _, mode := range w.PSModes {
			check(mode == "auto" || mode == "disable", "%s: unknown ps mode %q", w.Name, mode)
		}
	}
	return errors.Join(faults...)
}

func distinct[T cmp.Ordered](values []T) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(values)))) == len(values)
}

// Steps lists the steps of one workload.
func (w *Workload) Steps() []Step {
	modes := w.PSModes
	if !w.hasModes() {
		modes = []string{"-"}
	}
	var steps []Step
	for _, mode := range modes {
		for _, n := range w.Threads {
			steps = append(steps, Step{Workload: w, PSMode: mode, Threads: n})
		}
	}
	return steps
}

// runsScript says whether the workload is sysbench's script over prepared tables.
func (w *Workload) runsScript() bool {
	return w.Kind == KindRun || w.Kind == KindRestart || w.Kind == KindIndex
}

// usesScratch says whether each of its runs begins with an empty database.
func (w *Workload) usesScratch() bool {
	return w.Kind == KindLoad || w.Kind == KindBulk || w.Kind == KindImport
}

// sysbenchRows says whether the workload has sysbench's tables.
func (w *Workload) sysbenchRows() bool {
	return w.runsScript() || w.usesScratch()
}

// hasModes says whether its statements can be prepared or text.
func (w *Workload) hasModes() bool { return w.Kind == KindRun || w.Kind == KindTPCC }

// data names the tables that have to be loaded before its runs, which follow each other over them; "" for none.
func (w *Workload) data() string {
	switch {
	case w.runsScript() || w.Kind == KindImport:
		return fmt.Sprintf("%d x %d rows", w.Tables, w.Rows)
	case w.Kind == KindTPCC:
		return fmt.Sprintf("%d warehouses of TPC-C", w.Warehouses)
	case w.Kind == KindTPCH:
		return fmt.Sprintf("TPC-H of scale factor %g", w.Factor)
	}
	return ""
}

// ownClients says whether its clients belong to this process.
func (w *Workload) ownClients() bool {
	return w.Kind == KindStorm || w.Kind == KindTPCC || w.Kind == KindTPCH
}

// timesStarts says whether the workload measures how long a server takes to start.
func (w *Workload) timesStarts() bool { return w.Kind == KindStart || w.Kind == KindRestart }

// takesItsTime says whether its runs end when something is done, not when its seconds are over.
func (w *Workload) takesItsTime() bool {
	return w.timesStarts() || w.Kind == KindLoad || w.Kind == KindIndex || w.Kind == KindImport
}

// groups divides the steps into those whose rounds are measured in turn: all of a workload, unless each needs tables of its own. A
// machine is slow for some seconds at a time, because of its other guests or because a server catches up with what the step before
// left to it, such as a compaction. That meets one round of several steps so, not most rounds of one.
func (w *Workload) groups() [][]Step {
	steps := w.Steps()
	if w.Reload != ReloadStep {
		return [][]Step{steps}
	}
	groups := make([][]Step, len(steps))
	for i := range steps {
		groups[i] = steps[i : i+1]
	}
	return groups
}

// hasLatency says whether a run's latencies are those of its queries: a load has none, and the events of bulk_insert are rows, most of which
// only fill a buffer of the client.
func (w *Workload) hasLatency() bool { return w.hasModes() || w.ownClients() }

func (w *Workload) rowsInAll() int64 {
	switch w.Kind {
	case KindTPCC:
		return w.tpccScale().Rows()
	case KindTPCH:
		return tpch.Scale(w.Factor).Rows()
	}
	return int64(w.Tables) * int64(w.Rows)
}

// rateUnit names what the rate of a workload counts.
func (w *Workload) rateUnit() string {
	switch w.Kind {
	case KindLoad, KindBulk, KindIndex, KindImport:
		return "rows/s"
	case KindStorm:
		return "logins/s"
	case KindTPCC:
		return "tpmC"
	case KindTPCH:
		return "queries/s"
	case KindStart, KindRestart:
		return "starts/s"
	}
	return "QPS"
}

// each names what a rate counts one of.
func (w *Workload) each() string {
	switch w.Kind {
	case KindLoad, KindBulk, KindIndex, KindImport:
		return "row"
	case KindStorm:
		return "login"
	}
	return "query"
}

// demanding says whether any workload demands something.
func (p *Plan) demanding() bool {
	return slices.ContainsFunc(p.Workloads, func(w Workload) bool { return w.Demands != Demands{} })
}

// Scale shrinks the plan: rows, seconds and the cache, which belongs to the rows, by the factor, threads by its square root, since the published thread counts grow with
// cores while the published tables grow with disks.
func (p *Plan) Scale(factor float64) error {
	if !(factor > 0 && factor <= 1) {
		return fmt.Errorf("scale %v is not in (0, 1]", factor)
	}
	shrink := func(n *int, by float64, least int) {
		if *n > least {
			*n = max(least, int(math.Round(float64(*n)*by)))
		}
	}
	root := math.Sqrt(factor)
	if p.CacheBytes > scaledCacheMin {
		p.CacheBytes = max(scaledCacheMin, int64(float64(p.CacheBytes)*factor))
	}
	shrink(&p.Rows, factor, rowsMin)
	shrink(&p.Seconds, factor, 1)
	shrink(&p.WarmupSeconds, factor, 1)
	p.Threads = scaleThreads(p.Threads, root)
	for i := range p.Workloads {
		w := &p.Workloads[i]
		shrink(&w.Rows, factor, rowsMin)
		shrink(&w.Warehouses, factor, 1)
		w.Factor = max(w.Factor*factor, min(w.Factor, factorMin))
		shrink(&w.Seconds, factor, 1)
		shrink(&w.WarmupSeconds, factor, 1)
		w.Threads = scaleThreads(w.Threads, root)
	}
	return nil
}

func scaleThreads(threads []int, by float64) []int {
	var scaled []int
	for _, n := range threads {
		if n = max(1, int(math.Round(float64(n)*by))); !slices.Contains(scaled, n) {
			scaled = append(scaled, n)
		}
	}
	return scaled
}

// Override replaces fields of every workload; zero values leave what is there.
type Override struct {
	Rounds, Seconds, Tables, Rows int
	Warehouses                    int
	Factor                        float64
	Warmup                        *int // zero seconds are none
	Threads                       []int
	PSModes                       []string // "both" stands for auto and disable
	Workloads                     []string // keep only these
	CacheBytes                    int64
	Clients                       string
	ServerCPUs                    int
}

// Apply changes the plan and validates it again.
func (p *Plan) Apply(o Override) error {
	if len(o.Workloads) > 0 {
		var kept []Workload
		for _, name := range o.Workloads {
			i := slices.IndexFunc(p.Workloads, func(w Workload) bool { return w.Name == name })
			if i < 0 {
				return fmt.Errorf("plan %s has no workload %q", p.Name, name)
			}
			kept = append(kept, p.Workloads[i])
		}
		p.Workloads = kept
	}
	if o.Warmup != nil {
		p.WarmupSeconds = *o.Warmup
	}
	if slices.Equal(o.PSModes, []string{"both"}) {
		o.PSModes = []string{"auto", "disable"}
	}
	override(&p.CacheBytes, o.CacheBytes)
	override(&p.Clients, o.Clients)
	override(&p.ServerCPUs, o.ServerCPUs)
	override(&p.Rounds, o.Rounds)
	override(&p.Seconds, o.Seconds)
	override(&p.Tables, o.Tables)
	override(&p.Rows, o.Rows)
	for i := range p.Workloads {
		w := &p.Workloads[i]
		override(&w.Rounds, o.Rounds)
		if o.Warmup != nil {
			w.WarmupSeconds = *o.Warmup
		}
		override(&w.Seconds, o.Seconds)
		override(&w.Tables, o.Tables)
		override(&w.Rows, o.Rows)
		if w.Kind == KindTPCC {
			override(&w.Warehouses, o.Warehouses)
		}
		if w.Kind == KindTPCH {
			override(&w.Factor, o.Factor)
			continue // it has one client
		}
		if len(o.Threads) > 0 && w.Kind != KindStart {
			w.Threads = o.Threads
		}
		if len(o.PSModes) > 0 {
			w.PSModes = o.PSModes
		}
	}
	return p.Validate()
}

func override[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}

// runOverheadSeconds is what a run takes beside its seconds, on a small machine: logging in, preparing, reading figures.
const runOverheadSeconds = 0.35

// Fit shortens every run so that the plan takes about the given seconds with so many targets, but no run below one second. What takes its
// own time, such as loading, goes on doing so, and so does what is measured a second time.
func (p *Plan) Fit(budgetSeconds, targets int, trivial bool) {
	runs := 0
	for i := range p.Workloads {
		w := &p.Workloads[i]
		if w.takesItsTime() {
			continue
		}
		n := targets
		if trivial && w.Trivial {
			n++
		}
		runs += len(w.Steps()) * w.Rounds * n
	}
	if runs == 0 {
		return
	}
	seconds := max(1, int(math.Round(float64(budgetSeconds)/float64(runs)-runOverheadSeconds)))
	for i := range p.Workloads {
		if w := &p.Workloads[i]; !w.takesItsTime() {
			w.Seconds = min(w.Seconds, seconds)
		}
	}
	p.Seconds = min(p.Seconds, seconds)
}
