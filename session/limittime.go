package session

import (
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kvapi"
)

// limitedTextMin is the length of text in bytes from which parsing is included in max_execution_time: that of shorter ones takes too little time.
const limitedTextMin = 64 << 10

// limitTime ends the statement after max_execution_time or what its hint says. The returned function must be called when it is over: it
// takes back a limit that the statement survived, which is not meant for the next one of the same text.
func (s *Session) limitTime(limit time.Duration) (stop func()) {
	if s.limitFired == nil {
		s.limitFired = make(chan struct{}, 1)
	}
	timer := clock.AfterFunc(limit, func() {
		s.interrupt.Set(kvapi.ReasonTimeout)
		s.limitFired <- struct{}{}
	})
	return func() {
		if !timer.Stop() {
			<-s.limitFired
			s.interrupt.Clear(kvapi.ReasonTimeout)
		}
	}
}

// limitPlanning ends parsing or planning a query after what is left of max_execution_time. The time that it takes is subtracted from that of the execution.
func (s *Session) limitPlanning() (stop func()) {
	began := clock.Mono()
	end := s.limitTime(max(s.maxExecution-s.planned, time.Millisecond))
	return func() {
		s.planned += clock.Since(began)
		end()
	}
}

// planError replaces an error of planning that an interrupt has caused.
func (s *Session) planError(err error) error {
	if s.poll() != nil {
		return exec.MapError(kvapi.ErrInterrupted, &s.interrupt)
	}
	return err
}

// beginsQuery reports whether a text begins as a query does: max_execution_time is for nothing else. A comment before it hides that, which
// leaves the parsing without a limit and nothing more.
func beginsQuery(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(")
	for _, word := range []string{"SELECT", "WITH", "TABLE", "VALUES"} {
		if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) {
			return true
		}
	}
	return false
}
