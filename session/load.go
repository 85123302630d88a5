package session

import (
	"bytes"
	"errors"
	"io"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// loadFileStep is how much LOAD_FILE reads at once, which counts as the statement's memory before.
const loadFileStep = 1 << 20

// erLocalDisabled is ER_CLIENT_LOCAL_FILES_DISABLED.
const erLocalDisabled = 3948

// loading is the file of the current LOAD DATA.
type loading struct {
	path   string
	client sqlapi.FileClient // nil: the file is the server's
}

// startLoad refuses a LOAD DATA whose file the client or the account may not use. The file is asked for later, when the plan has entered.
func (s *Session) startLoad(stmt *syntax.LoadData, out Response) error {
	if !stmt.Local {
		if err := s.requireFile(); err != nil {
			return err
		}
		s.loading = &loading{path: stmt.File.Value}
		return nil
	}
	client, ok := out.(sqlapi.FileClient)
	if !ok || !client.SendsFiles() || s.node.Global("local_infile") != "ON" {
		return types.NewError(erLocalDisabled, "Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	s.loading = &loading{path: stmt.File.Value, client: client}
	return nil
}

// requireFile requires FILE; without it LOAD DATA answers with the error of a refused login.
func (s *Session) requireFile() error {
	if s.account().Has(privilege.File, "", "") {
		return nil
	}
	password := "YES"
	if len(s.account().Auth) == 0 {
		password = "NO"
	}
	return types.Errorf(types.ErAccessDenied, s.client.User, s.client.Host, password)
}

// runFiled runs a plan, with the file that it reads if it is that of a LOAD DATA. A client's file is read to its end even after an error,
// since the client reads no answer before.
func (s *Session) runFiled(p *exec.Plan, out Response) (result sqlapi.Result, err error) {
	l := s.loading
	if l == nil {
		return exec.Run(&s.runtime, p, out)
	}
	s.loading = nil
	var file io.Reader
	if l.client != nil {
		sent := l.client.File(l.path)
		defer func() {
			if drained := sent.Drain(); drained != nil && err == nil {
				err = drained
			}
		}()
		file = sent
	} else {
		opened, err := s.node.openFile(l.path)
		if err != nil {
			return result, err
		}
		defer opened.Close()
		file = opened
	}
	s.runtime.File, s.runtime.LineBytesMax = file, int(s.packetMax)
	defer func() { s.runtime.File = nil }()
	return exec.Run(&s.runtime, p, out)
}

// openFile opens a file of the server for reading.
func (n *Node) openFile(path string) (io.ReadCloser, error) {
	if n.Files == nil {
		return nil, types.Errorf(types.ErOptionPreventsStatement, "--secure-file-priv")
	}
	return n.Files.Open(path)
}

// createFile makes the file of INTO OUTFILE.
func (n *Node) createFile(path string) (exec.NewFile, error) {
	if n.Files == nil {
		return nil, types.Errorf(types.ErOptionPreventsStatement, "--secure-file-priv")
	}
	return n.Files.Create(path)
}

// LoadFile is LOAD_FILE: NULL for a file that the account may not read or that does not exist.
func (i *sessionInfo) LoadFile(path string) (types.Value, error) {
	s := i.session()
	if !s.account().Has(privilege.File, "", "") {
		return types.Null(), nil
	}
	file, err := s.node.openFile(path)
	if err != nil {
		if e := (*types.Error)(nil); errors.As(err, &e) && e.Number == types.ErTextFileNotReadable {
			return types.Null(), err
		}
		return types.Null(), nil
	}
	defer file.Close()
	var text bytes.Buffer
	for {
		if err := s.ctx.Grow(loadFileStep); err != nil {
			return types.Null(), err
		}
		n, err := io.CopyN(&text, file, loadFileStep)
		switch {
		case int64(text.Len()) > s.packetMax:
			s.context.Warn(types.LevelWarning, types.ErWarnAllowedPacketOverflowed, "load_file", s.packetMax)
			return types.Null(), nil
		case err == io.EOF:
			return types.Bytes(text.Bytes()), nil
		case err != nil || n == 0:
			return types.Null(), nil
		}
	}
}

// Files opens the files of this machine that statements name. Errors are *types.Error.
type Files interface {
	// Open opens a file for reading.
	Open(path string) (io.ReadCloser, error)
	// Create makes a file, which must not exist yet.
	Create(path string) (exec.NewFile, error)
}
