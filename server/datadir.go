package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/backup"
)

const (
	// identityName is the file at the top of a data directory that says that the directory is Pando's.
	identityName = "PANDO"
	// identityPart is the identity while it is being written. A crash of the first start leaves it, and nothing else.
	identityPart = identityName + partSuffix
	// partSuffix ends the name of a file that is being written.
	partSuffix = ".part"
	// directoryFormat is the version of a directory's layout and of the identity file. A newer one is refused.
	directoryFormat = 1
	// identityBytesMax bounds what is read of a file that bears the identity's name.
	identityBytesMax = 4 << 10

	storeName = "store"
	tempName  = "temp"
	// spillPattern matches what package exec makes in the directory for spill files; nothing else is deleted there.
	spillPattern = "pando-spill-*"
	// entriesShown bounds the list of foreign files in an error.
	entriesShown = 5
)

// products maps a file to the product whose data directories contain it.
var products = []struct{ file, name string }{
	{"ibdata1", "MySQL or MariaDB"}, {"mysql.ibd", "MySQL"}, {"auto.cnf", "MySQL"}, {"aria_log_control", "MariaDB"}, {"ib_logfile0", "MySQL or MariaDB"},
	{"PG_VERSION", "PostgreSQL"}, {"raftdb.info", "TiKV"},
}

// claimDir makes sure that a directory is Pando's, and makes it so if it is empty or absent. It touches nothing in one that it refuses. It
// returns the id of the store that the identity names, 0 for a directory that has just been made Pando's.
func claimDir(dir string) (store uint64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, privateDir)
	}
	if err != nil {
		return 0, fmt.Errorf("the data directory cannot be opened or made: %w", err)
	}
	var names, foreign []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		// A node that joins writes its membership before the identity.
		if name := entry.Name(); name != identityPart && name != membershipName && name != membershipName+partSuffix && name != "lost+found" {
			foreign = append(foreign, name)
		}
	}
	if slices.Contains(names, identityName) {
		return readIdentity(dir)
	}
	if len(foreign) > 0 && !olderStore(dir, foreign) {
		return 0, refuseDir(dir, foreign)
	}
	return 0, nil
}

// isNew reports whether nobody has used a directory yet: it is absent, or empty but for what a crash of the first start has left.
func isNew(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != identityPart && e.Name() != "lost+found" })
}

// olderStore reports whether a directory was written by a version of Pando before there were identity files: it contains only a store, and
// that a log, a manifest and the ballast file, which no other program makes together. The caller writes an identity then.
func olderStore(dir string, names []string) bool {
	for _, name := range names {
		if name != storeName && name != tempName {
			return false
		}
	}
	for _, pattern := range []string{"????????????????.wal", "MANIFEST-*", "OPTIONS-*", "ballast"} {
		if found, err := filepath.Glob(filepath.Join(dir, storeName, pattern)); err != nil || len(found) == 0 {
			return false
		}
	}
	return true
}

// refuseDir returns the error for a directory without an identity, and guesses from its files whose it is.
func refuseDir(dir string, names []string) error {
	for _, p := range products {
		if slices.Contains(names, p.file) {
			return fmt.Errorf("%s is a data directory of %s (it holds %s), and is left untouched: choose an empty or a new directory, and load a dump of that server",
				dir, p.name, p.file)
		}
	}
	if backup.Is(names) {
		return fmt.Errorf("%s is a backup, and is left untouched: make a data directory of it (pando restore --from %s --data-dir NEW), and start that", dir, dir)
	}
	if slices.Contains(names, backup.RestoringName) {
		return fmt.Errorf("%s is left of a restore that was never finished: delete it, and restore the backup again", dir)
	}
	own := func(name string) bool { return name == storeName || name == tempName }
	if slices.Contains(names, storeName) && !slices.ContainsFunc(names, func(name string) bool { return !own(name) }) {
		return fmt.Errorf("%s holds a store but no file %s, and is left untouched: if a Pando from before 0.1.0 has written it, parts of it are missing",
			dir, identityName)
	}
	if len(names) > entriesShown {
		names = append(slices.Clone(names[:entriesShown]), "...")
	}
	return fmt.Errorf("%s is not empty and not Pando's (it holds %s), and is left untouched: choose an empty or a new directory", dir, strings.Join(names, ", "))
}

// readIdentity reads the identity file: lines of a name, an equals sign and a number.
func readIdentity(dir string) (store uint64, err error) {
	path := filepath.Join(dir, identityName)
	info, err := os.Lstat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > identityBytesMax) {
		err = errors.New("it is no file of Pando's")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return 0, fmt.Errorf("the identity of %s cannot be read, which is left untouched: %w", dir, err)
	}
	numbers := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, "=")
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64); err == nil {
			numbers[strings.TrimSpace(name)] = n
		}
	}
	switch format := numbers["format"]; {
	case format > directoryFormat:
		return 0, fmt.Errorf("%s was written by a newer version of Pando (format %d, this one knows up to %d), and is left untouched: start that version or a newer one",
			dir, format, directoryFormat)
	case format == 0 || numbers["store"] == 0:
		return 0, fmt.Errorf("%s is not Pando's, or damaged: its file %s names no format or no store; it is left untouched", dir, identityName)
	}
	return numbers["store"], nil
}

// writeIdentity makes an empty directory Pando's, durably, before anything else is written there.
func writeIdentity(dir string, store uint64) error {
	text := fmt.Sprintf("# The data directory of a Pando node. Never edit or delete this file.\nformat = %d\nstore = %d\n", directoryFormat, store)
	if err := writeDurably(dir, identityName, []byte(text)); err != nil {
		return fmt.Errorf("the identity of the data directory cannot be written: %w", err)
	}
	return nil
}

// writeDurably writes a file of a directory, whole or not at all.
func writeDurably(dir, name string, text []byte) error {
	part := filepath.Join(dir, name+partSuffix)
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, privateFile)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, filepath.Join(dir, name))
	}
	if err == nil {
		err = syncDir(dir)
	}
	return err
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cleanTemp makes the directory for spill files and deletes those that a crash has left there, but nothing that Pando has not made.
func cleanTemp(dir string) (string, error) {
	temp := filepath.Join(dir, tempName)
	if err := os.MkdirAll(temp, privateDir); err != nil {
		return "", fmt.Errorf("the directory for spill files cannot be made: %w", err)
	}
	entries, err := os.ReadDir(temp)
	if err != nil {
		return "", fmt.Errorf("the directory for spill files cannot be read: %w", err)
	}
	for _, entry := range entries {
		if ours, _ := filepath.Match(spillPattern, entry.Name()); !ours || !entry.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(temp, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("clearing spill files: %w", err)
		}
	}
	return temp, nil
}
