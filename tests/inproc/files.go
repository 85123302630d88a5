package inproc

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// Files are the files that statements of a test node may name, in memory. A client sends those of the same names for LOAD DATA LOCAL.
type Files struct {
	mu     sync.Mutex
	byName map[string][]byte
}

// Put makes a file, or replaces it.
func (f *Files) Put(name string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byName == nil {
		f.byName = map[string][]byte{}
	}
	f.byName[name] = content
}

// Get returns a file's content.
func (f *Files) Get(name string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, ok := f.byName[name]
	return content, ok
}

// Open implements session.Files.
func (f *Files) Open(path string) (io.ReadCloser, error) {
	content, ok := f.Get(path)
	if !ok {
		return nil, types.NewError(13, "Can't get stat of '"+path+"' (OS errno 2 - No such file or directory)")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Create implements session.Files.
func (f *Files) Create(path string) (exec.NewFile, error) {
	if _, ok := f.Get(path); ok {
		return nil, types.Errorf(types.ErFileExists, path)
	}
	f.Put(path, nil)
	return &newFile{files: f, path: path}, nil
}

type newFile struct {
	bytes.Buffer
	files *Files
	path  string
}

func (n *newFile) Close() error {
	n.files.Put(n.path, n.Bytes())
	return nil
}

func (n *newFile) Abort() {
	n.files.mu.Lock()
	defer n.files.mu.Unlock()
	delete(n.files.byName, n.path)
}

// sentFile is a client's file. It arrives in pieces of a few bytes, which no reader may depend on.
type sentFile struct{ rest []byte }

func (s *sentFile) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 3)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Drain implements sqlapi.FileReader.
func (s *sentFile) Drain() error {
	s.rest = nil
	return nil
}

// SendsFiles implements sqlapi.FileClient.
func (r *response) SendsFiles() bool { return true }

// File implements sqlapi.FileClient. Of a file that there is not a client sends nothing.
func (r *response) File(name string) sqlapi.FileReader {
	content, _ := r.files.Get(name)
	return &sentFile{rest: content}
}

// FileCommands are commands of scripts: "file NAME" makes a file of its input, in which \n, \x00 and their like are Go's escapes and the ends of
// its lines nothing; "cat NAME" shows one in the same form, a line of it a line.
func FileCommands() map[string]func(*Script, *script.Block) string {
	return map[string]func(*Script, *script.Block) string{
		"file": func(s *Script, d *script.Block) string {
			content, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(d.Input, "\n", ""), `"`, `\"`) + `"`)
			if err != nil {
				return err.Error() + "\n"
			}
			s.node.Files.Put(d.CmdArgs[0].Key, []byte(content))
			return ""
		},
		"cat": func(s *Script, d *script.Block) string {
			content, ok := s.node.Files.Get(d.CmdArgs[0].Key)
			if !ok {
				return "no such file\n"
			}
			quoted := strconv.Quote(string(content))
			quoted = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
			return strings.TrimSuffix(strings.ReplaceAll(quoted, `\n`, "\\n\n"), "\n") + "\n"
		},
	}
}
