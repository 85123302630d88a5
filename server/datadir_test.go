package server

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree lists a directory: its paths, with the content of files.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			out = append(out, path)
			return err
		}
		text, err := os.ReadFile(path)
		out = append(out, path+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lay writes files below a directory; a name that ends with a slash is a directory.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignDirectory: a directory that is neither empty nor Pando's is refused by what it is, and nothing in it changes.
func TestForeignDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"any folder":        {map[string]string{"letter.txt": "Dear"}, "not Pando's"},
		"an empty temp":     {map[string]string{"temp/": ""}, "not Pando's"},
		"somebody's temp":   {map[string]string{"temp/thesis": "all of it"}, "not Pando's"},
		"MySQL":             {map[string]string{"ibdata1": "x", "mysql.ibd": "x", "temp/a": "b"}, "data directory of MySQL"},
		"MariaDB":           {map[string]string{"aria_log_control": "x", "mysql/user.frm": "x"}, "data directory of MariaDB"},
		"PostgreSQL":        {map[string]string{"PG_VERSION": "17"}, "data directory of PostgreSQL"},
		"an older Pando's":  {map[string]string{"store/a.wal": "x", "temp/": ""}, "before 0.1.0"},
		"a newer Pando's":   {map[string]string{"PANDO": "format = 2\nstore = 1\n", "temp/pando-spill-1": "x"}, "newer version of Pando"},
		"damaged identity":  {map[string]string{"PANDO": "\x00\x00", "store/x": "y"}, "names no format"},
		"a folder of ours":  {map[string]string{"PANDO/x": "y"}, "no file of Pando's"},
		"a foreign store":   {map[string]string{"PANDO": "format = 1\nstore = 1\n", "store/photo.jpg": "x"}, "not Pando's"},
		"its parent folder": {map[string]string{"data/PANDO": "format = 1\nstore = 1\n"}, "not Pando's"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t)
			lay(t, o.DataDir, c.files)
			before := tree(t, o.DataDir)
			n, err := Open(context.Background(), o)
			if err == nil {
				_ = n.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), o.DataDir) {
				t.Errorf("refused with: %v", err)
			}
			if after := tree(t, o.DataDir); !slices.Equal(before, after) {
				t.Errorf("it was changed from\n%q to\n%q", before, after)
			}
		})
	}
}

// TestOtherNodesStore: the store of another node below an identity is refused.
func TestOtherNodesStore(t *testing.T) {
	o := testOptions(t)
	n, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	lay(t, o.DataDir, map[string]string{identityName: "format = 1\nstore = 7\n"})
	if n, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "another node's store") {
		if err == nil {
			_ = n.Close()
		}
		t.Errorf("opened with: %v", err)
	}
}

// TestOwnTemp: a start deletes the spill files that a crash has left, and nothing else; what a first start left is taken up.
func TestOwnTemp(t *testing.T) {
	o := testOptions(t)
	lay(t, o.DataDir, map[string]string{identityPart: "form", "lost+found/": ""})
	for range 2 {
		n, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(o.DataDir, tempName, "pando-spill-12")); err == nil {
			t.Error("a spill file was left")
		}
		lay(t, o.DataDir, map[string]string{"temp/pando-spill-12": "x", "temp/notes": "mine"})
	}
	if text, err := os.ReadFile(filepath.Join(o.DataDir, tempName, "notes")); err != nil || string(text) != "mine" {
		t.Errorf("what was not Pando's in temp: %q, %v", text, err)
	}
}

// TestOlderDirectory: a directory from before identities is opened, and has one from then on.
func TestOlderDirectory(t *testing.T) {
	o := testOptions(t)
	for range 2 {
		n, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(o.DataDir, identityName)); err != nil {
			t.Fatal(err)
		}
	}
}
