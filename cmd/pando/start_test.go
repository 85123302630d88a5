package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// waitForStop makes a process of this test a server that is told to stop and does not come to it.
const waitForStop = "PANDO_TEST=waits-for-stop"

// ignoresInterrupt: this process was started with SIGINT ignored, as shells do in the background, and so are its children. It is asked before a test has
// taken note of the signal.
var ignoresInterrupt = signal.Ignored(syscall.SIGINT)

func TestMain(m *testing.M) {
	for _, pair := range os.Environ() {
		if pair == waitForStop {
			ctx, stop := stopSignals()
			defer stop()
			fmt.Println("started")
			<-ctx.Done()
			fmt.Println("stopping")
			select {}
		}
	}
	os.Exit(m.Run())
}

// TestSecondSignal: the second SIGTERM or SIGINT ends the process at once, also while it still recovers.
func TestSecondSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		if sig == syscall.SIGINT && ignoresInterrupt {
			t.Logf("%v is not tried, as it is ignored", sig)
			continue
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), waitForStop)
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for _, want := range []string{"started", "stopping"} {
			if !lines.Scan() || lines.Text() != want {
				t.Fatalf("%v: %q instead of %s", sig, lines.Text(), want)
			}
			_ = child.Process.Signal(sig)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		for end := time.Now().Add(time.Minute); ; {
			select {
			case <-ended:
				if status := child.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != sig {
					t.Errorf("%v: ended with %v", sig, status)
				}
			case <-time.After(10 * time.Millisecond):
				if time.Now().Before(end) {
					_ = child.Process.Signal(sig) // the one before may have come before the first had been taken note of
					continue
				}
				t.Errorf("%v: a second one is swallowed", sig)
				_ = child.Process.Kill()
				<-ended
			}
			break
		}
	}
}
