package backup

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
)

const (
	// Format is the version of the identity and of the directory that it is in.
	Format = 1

	identityName = "BACKUP"
	halfName     = identityName + ".part"
	// nextName is the identity while it is being written.
	nextName  = identityName + ".next"
	storeName = "store"
	// RestoringName is a file in a directory that is being restored.
	RestoringName = "RESTORE.part"

	// identityBytesMax bounds what is read of a file that bears the identity's name; a file has a line of some 50 bytes.
	identityBytesMax = 64 << 20

	category engine.WriteCategory = "pando-backup"
)

// Reasons why a backup is refused. The error that wraps one is a sentence for the operator.
var (
	// ErrNone: there is no backup in the directory.
	ErrNone = errors.New("no backup")
	// ErrHalf: the backup was begun and not finished.
	ErrHalf = errors.New("half a backup")
	// ErrDamaged: the backup is not as it was written.
	ErrDamaged = errors.New("damaged backup")
	// ErrNewer: a newer program has written the backup, or what is in it.
	ErrNewer = errors.New("a newer version's backup")
	// ErrOccupied: the directory that is to be written holds something.
	ErrOccupied = errors.New("directory not empty")
	// ErrNoSpace: the disk has too little space.
	ErrNoSpace = errors.New("disk full")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Formats are the versions of what is in a backup, or those up to which a program knows them.
type Formats struct{ Directory, Records, Engine int }

// Identity says what a backup is of.
type Identity struct {
	Program            string
	Formats            Formats
	Store, Incarnation uint64
	Timestamp          clock.Timestamp
	Began, Ended       time.Time
	LogFrom, LogEnd    uint64
	Files              []File
}

// File is one of a backup's.
type File struct {
	Name  string
	Bytes int64
	Sum   uint32
}

// Bytes is the size of all files together.
func (id *Identity) Bytes() (sum int64) {
	for i := range id.Files {
		sum += id.Files[i].Bytes
	}
	return sum
}

func (id *Identity) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# A backup of a Pando node: pando restore makes a data directory of it. Never edit or delete this file.\n")
	fmt.Fprintf(&b, "format = %d\nprogram = %s\ndirectory = %d\nrecords = %d\nengine = %d\n", Format, id.Program, id.Formats.Directory, id.Formats.Records, id.Formats.Engine)
	fmt.Fprintf(&b, "store = %d\nincarnation = %d\ntimestamp = %d\n", id.Store, id.Incarnation, uint64(id.Timestamp))
	fmt.Fprintf(&b, "began = %s\nended = %s\nlog = %d %d\n", id.Began.UTC().Format(time.RFC3339Nano), id.Ended.UTC().Format(time.RFC3339Nano), id.LogFrom, id.LogEnd)
	for _, f := range id.Files {
		fmt.Fprintf(&b, "file = %08x %d %s\n", f.Sum, f.Bytes, f.Name)
	}
	return fmt.Appendf(b.Bytes(), "end = %08x\n", crc32.Checksum(b.Bytes(), castagnoli))
}

// decodeIdentity reads what encode writes. The first and the last line are those of every format.
func decodeIdentity(text []byte) (*Identity, error) {
	if at := bytes.LastIndex(text, []byte("\nend = ")); at < 0 || string(text[at+1:]) != fmt.Sprintf("end = %08x\n", crc32.Checksum(text[:at+1], castagnoli)) {
		return nil, fmt.Errorf("%w: the file %s is not as it was written", ErrDamaged, identityName)
	}
	p := lines{rest: string(text)}
	if format := p.number("format"); p.err == nil && format > Format {
		return nil, fmt.Errorf("%w: its format is %d, and this program knows formats up to %d", ErrNewer, format, Format)
	}
	id := &Identity{Program: p.line("program")}
	id.Formats = Formats{int(p.number("directory")), int(p.number("records")), int(p.number("engine"))}
	id.Store, id.Incarnation, id.Timestamp = p.number("store"), p.number("incarnation"), clock.Timestamp(p.number("timestamp"))
	id.Began, id.Ended = p.time("began"), p.time("ended")
	p.scan(p.line("log"), "%d %d", &id.LogFrom, &id.LogEnd)
	for p.err == nil && strings.HasPrefix(p.rest, "file = ") {
		var f File
		p.scan(p.line("file"), "%08x %d %s", &f.Sum, &f.Bytes, &f.Name)
		if p.err == nil && (f.Bytes < 0 || !plainName(f.Name)) {
			p.err = fmt.Errorf("%q is no file of a store", f.Name)
		}
		id.Files = append(id.Files, f)
	}
	p.line("end")
	if p.err != nil {
		return nil, fmt.Errorf("%w: the file %s makes no sense: %w", ErrDamaged, identityName, p.err)
	}
	return id, nil
}

// plainName keeps names from leading out of the directory.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

// lines reads an identity line by line.
type lines struct {
	rest string
	err  error
}

// line returns the value of the next line, which must have that name.
func (l *lines) line(name string) string {
	for strings.HasPrefix(l.rest, "#") {
		_, l.rest, _ = strings.Cut(l.rest, "\n")
	}
	line, rest, _ := strings.Cut(l.rest, "\n")
	value, ok := strings.CutPrefix(line, name+" = ")
	if !ok && l.err == nil {
		l.err = fmt.Errorf("%q is where %s was expected", line, name)
	}
	l.rest = rest
	return value
}

func (l *lines) number(name string) uint64 {
	n, err := strconv.ParseUint(l.line(name), 10, 64)
	if l.err == nil {
		l.err = err
	}
	return n
}

func (l *lines) time(name string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, l.line(name))
	if l.err == nil {
		l.err = err
	}
	return t
}

func (l *lines) scan(text, format string, to ...any) {
	if _, err := fmt.Sscanf(text, format, to...); l.err == nil && err != nil {
		l.err = fmt.Errorf("%q: %w", text, err)
	}
}

// Is tells whether a directory bears the name of a backup, whole or half.
func Is(names []string) bool {
	return slices.Contains(names, identityName) || slices.Contains(names, halfName)
}

// Read returns the identity of the backup in a directory, unless it is half, damaged, or newer than what the program knows. It does not
// look at the other files.
func Read(fs engine.FS, dir string, known Formats) (*Identity, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("the backup cannot be read: %w", err)
	}
	if !slices.Contains(names, identityName) {
		if slices.Contains(names, halfName) {
			return nil, fmt.Errorf("%w: the one in %s was begun and never finished, because the server, the disk or the power failed; delete the directory and make another backup", ErrHalf, dir)
		}
		return nil, fmt.Errorf("%w: %s holds none (there is no file %s in it)", ErrNone, dir, identityName)
	}
	text, err := readFile(fs, fs.PathJoin(dir, identityName))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, dir, err)
	}
	id, err := decodeIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, v := range []struct {
		what         string
		found, known int
	}{
		{"its data directory's format", id.Formats.Directory, known.Directory}, {"its records' format", id.Formats.Records, known.Records}, {"its engine's format", id.Formats.Engine, known.Engine},
	} {
		if v.found > v.known {
			return nil, fmt.Errorf("%w: %s is of Pando %s, and %s is %d, of which this program knows up to %d; use that version or a newer one",
				ErrNewer, dir, id.Program, v.what, v.found, v.known)
		}
	}
	return id, nil
}

func readFile(fs engine.FS, path string) (b []byte, err error) {
	info, err := fs.Stat(path)
	if err == nil && (info.IsDir() || info.Size() > identityBytesMax) {
		err = fmt.Errorf("%s is no file of Pando's", path)
	}
	if err != nil {
		return nil, err
	}
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(io.LimitReader(f, identityBytesMax))
	return b, errors.Join(err, f.Close())
}

// writeFile makes a file, durably but for its name.
func writeFile(fs engine.FS, path string, content []byte) error {
	f, err := fs.Create(path, category)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes the names in a directory durable.
func syncDir(fs engine.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// absent tells whether an error says that there is no such file.
func absent(err error) bool { return errors.Is(err, os.ErrNotExist) }
