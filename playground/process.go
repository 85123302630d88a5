package playground

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// process is a node with its process.
type process struct {
	Node
	cmd   *exec.Cmd
	how   string        // how it ended; written before ended is closed
	ended chan struct{} // closed when the process has ended; nil before it was started
}

// launch starts the process, whose output goes to the end of a file, and tells died when it has ended.
func (n *process) launch(program string, args, env []string, log string, died chan<- *process) error {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the process has its own
	n.cmd = exec.Command(program, args...)
	n.cmd.Env = env
	n.cmd.Stdout, n.cmd.Stderr = out, out
	// In a group of its own, so that Ctrl-C is the playground's to pass on; and it ends with the playground however that ends.
	n.cmd.SysProcAttr = attributes()
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("node %d: %w", n.ID, err)
	}
	n.PID, n.ended = n.cmd.Process.Pid, make(chan struct{})
	go func() {
		_ = n.cmd.Wait() // ProcessState tells more
		n.how = n.cmd.ProcessState.String()
		close(n.ended)
		died <- n // has room for all
	}()
	return nil
}

// alive reports whether the process runs.
func (n *process) alive() bool {
	if n.ended == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// terminate asks the process to stop, kill ends it. It may have ended meanwhile.
func (n *process) terminate() { _ = n.cmd.Process.Signal(syscall.SIGTERM) }
func (n *process) kill()      { _ = n.cmd.Process.Kill() }
