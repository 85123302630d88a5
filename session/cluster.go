package session

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// Cluster is what ADMIN statements ask of the cluster that the node belongs to. A function that is nil answers 1235, as one does with
// ErrNoCluster.
type Cluster struct {
	// Token makes a join token; zero uses and time take the defaults.
	Token func(uses uint64, last time.Duration) (ClusterToken, error)
	// Nodes lists the nodes that were not removed.
	Nodes func() ([]ClusterNode, error)
	// Remove has a node leave, and says in a sentence what becomes of it.
	Remove func(id uint64) (state string, err error)
	// Regions lists the regions by their keys.
	Regions func() ([]ClusterRegion, error)
}

// ClusterToken is a row of ADMIN TOKEN.
type ClusterToken struct {
	Text  string
	Until time.Time
	Uses  uint64
}

// ClusterNode is a row of ADMIN NODES.
type ClusterNode struct {
	ID      uint64
	Address string // for other nodes
	State   string // joining, leaving, and otherwise up, down, or unknown where nothing was heard of it yet
	Role    string // gateway, or empty
	// Connected is "here" for this node itself, otherwise yes or no.
	Connected string
	// Heard is how long ago it was last heard, negative for never and for this node itself.
	Heard   time.Duration
	RTT     time.Duration
	Copies  int // of regions
	Leaders int // those that lead
	// Reason is why the node cannot be reached, or what is wrong with the votes that it has; empty if nothing is.
	Reason string
}

// ClusterRegion is a row of ADMIN REGIONS.
type ClusterRegion struct {
	ID         uint64
	Start, End string // keys, in hexadecimal digits
	Leader     uint64 // a node, 0 if there is none
	Peers      string // nodes, with a word after those that do not vote
	Term       uint64
	Applied    uint64 // index of the log
	// Lag is how many log entries the copy that is farthest behind lacks.
	Lag   uint64
	Bytes uint64
}

// adminWords are the ADMIN statements about the cluster, by how they begin.
var adminWords = []struct {
	prefix string
	run    func(*Session, *syntax.Loose, bool, Response) error
}{
	{"ADMIN TOKEN", (*Session).clusterToken},
	{"ADMIN NODES", (*Session).clusterNodes},
	{"ADMIN NODE REMOVE", (*Session).removeNode},
	{"ADMIN REGIONS", (*Session).clusterRegions},
}

// adminOfCluster returns what runs an ADMIN statement about the cluster, nil if it is another.
func (s *Session) adminOfCluster(text string) func(*syntax.Loose, bool, Response) error {
	for _, w := range adminWords {
		if text == w.prefix || strings.HasPrefix(text, w.prefix+" ") {
			return func(stmt *syntax.Loose, more bool, out Response) error { return w.run(s, stmt, more, out) }
		}
	}
	return nil
}

// ErrNoCluster answers a statement about the cluster on a node that belongs to none.
func ErrNoCluster(statement string) error {
	return types.Errorf(types.ErNotSupportedYet, statement+" of a node that is no cluster's; ADMIN PROMOTE makes it the first of one")
}

// ErrClusterArguments answers a statement about the cluster with impossible arguments; why also says what to do instead.
func ErrClusterArguments(statement, why string) error {
	return types.NewError(types.ErWrongArguments, "Incorrect arguments to "+statement+": "+why)
}

// clusterError is err as clients see it. An error that is no *types.Error means that region 0 cannot be asked at the moment: each of these statements
// may be repeated, even if it is not known whether it was done.
func (s *Session) clusterError(err error) error {
	if known, is := errors.AsType[*types.Error](err); is {
		return s.fail(known)
	}
	return s.fail(types.NewError(types.ErRegionUnavailable, "Region is unavailable: "+err.Error()+"; repeat the statement"))
}

// numbersOf reads the numbers after words of a statement, by these words: ADMIN TOKEN USES 2 HOURS 3.
func numbersOf(text string) (map[string]uint64, error) {
	found := map[string]uint64{}
	words := strings.Fields(text)
	for i := 1; i < len(words); i++ {
		if words[i][0] < '0' || words[i][0] > '9' {
			continue
		}
		n, err := strconv.ParseUint(words[i], 10, 64)
		if err != nil {
			return nil, types.Errorf(types.ErWrongValue, "number", words[i])
		}
		found[words[i-1]] = n
	}
	return found, nil
}

// tokenHoursMax bounds ADMIN TOKEN HOURS, so that the product below does not wrap; what it may be is the cluster's to say.
const tokenHoursMax = 100_000

func (s *Session) clusterToken(stmt *syntax.Loose, more bool, out Response) error {
	if s.node.Cluster.Token == nil {
		return s.fail(ErrNoCluster("ADMIN TOKEN"))
	}
	numbers, err := numbersOf(syntax.String(stmt))
	if err != nil {
		return s.fail(err)
	}
	uses, limited := numbers["USES"]
	hours, timed := numbers["HOURS"]
	if limited && uses == 0 {
		return s.fail(types.Errorf(types.ErWrongValue, "USES", "0"))
	}
	if timed && (hours == 0 || hours > tokenHoursMax) {
		return s.fail(types.Errorf(types.ErWrongValue, "HOURS", strconv.FormatUint(hours, 10)))
	}
	t, err := s.node.Cluster.Token(uses, time.Duration(hours)*time.Hour)
	if err != nil {
		return s.clusterError(err)
	}
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("TOKEN", 4096), textColumn("UNTIL", 32), numberColumn("USES")},
		[][]types.Value{{types.Text(t.Text), types.Text(t.Until.UTC().Format(time.DateTime) + " UTC"), types.Uint(t.Uses)}}, more, out)
}

func (s *Session) clusterNodes(_ *syntax.Loose, more bool, out Response) error {
	if s.node.Cluster.Nodes == nil {
		return s.fail(ErrNoCluster("ADMIN NODES"))
	}
	nodes, err := s.node.Cluster.Nodes()
	if err != nil {
		return s.clusterError(err)
	}
	var rows [][]types.Value
	for _, n := range nodes {
		heard := types.Null()
		if n.Heard >= 0 {
			heard = types.Text(strconv.FormatFloat(n.Heard.Seconds(), 'f', 1, 64))
		}
		rows = append(rows, []types.Value{types.Uint(n.ID), types.Text(n.Address), types.Text(n.State), types.Text(n.Role), types.Text(n.Connected), heard,
			types.Text(strconv.FormatFloat(float64(n.RTT.Microseconds())/1000, 'f', 3, 64)), types.Int(int64(n.Copies)), types.Int(int64(n.Leaders)), types.Text(n.Reason)})
	}
	return s.sendRows([]sqlapi.ColumnInfo{numberColumn("NODE_ID"), textColumn("ADDRESS", 255), textColumn("STATE", 16), textColumn("ROLE", 16), textColumn("CONNECTED", 8),
		textColumn("HEARD_S", 32), textColumn("RTT_MS", 32), numberColumn("COPIES"), numberColumn("LEADERS"), textColumn("REASON", 1024)}, rows, more, out)
}

func (s *Session) removeNode(stmt *syntax.Loose, more bool, out Response) error {
	if s.node.Cluster.Remove == nil {
		return s.fail(ErrNoCluster("ADMIN NODE REMOVE"))
	}
	numbers, err := numbersOf(syntax.String(stmt))
	if err != nil {
		return s.fail(err)
	}
	state, err := s.node.Cluster.Remove(numbers["REMOVE"])
	if err != nil {
		return s.clusterError(err)
	}
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("STATE", 255)}, [][]types.Value{{types.Text(state)}}, more, out)
}

func (s *Session) clusterRegions(_ *syntax.Loose, more bool, out Response) error {
	if s.node.Cluster.Regions == nil {
		return s.fail(ErrNoCluster("ADMIN REGIONS"))
	}
	regions, err := s.node.Cluster.Regions()
	if err != nil {
		return s.clusterError(err)
	}
	var rows [][]types.Value
	for _, r := range regions {
		rows = append(rows, []types.Value{types.Uint(r.ID), types.Text(r.Start), types.Text(r.End), types.Uint(r.Leader), types.Text(r.Peers), types.Uint(r.Term),
			types.Uint(r.Applied), types.Uint(r.Lag), types.Uint(r.Bytes)})
	}
	return s.sendRows([]sqlapi.ColumnInfo{numberColumn("REGION_ID"), textColumn("START_KEY", 1024), textColumn("END_KEY", 1024), numberColumn("LEADER"), textColumn("PEERS", 1024),
		numberColumn("TERM"), numberColumn("APPLIED"), numberColumn("LAG"), numberColumn("BYTES")}, rows, more, out)
}
