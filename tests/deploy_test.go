package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	dockerfile  = "../deploy/Dockerfile"
	serviceUnit = "../deploy/pando.service"
)

// instruction is one line of a Dockerfile.
type instruction struct{ word, rest string }

// lastStage reads the instructions behind the last FROM, which make the image.
func lastStage(t *testing.T) []instruction {
	t.Helper()
	raw, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
	var stage []instruction
	for _, line := range strings.Split(strings.ReplaceAll(string(raw), "\\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if !slices.Contains(known, word) {
			t.Fatalf("%s is no instruction", word)
		}
		if word == "FROM" {
			stage = nil
		}
		stage = append(stage, instruction{word, strings.TrimSpace(rest)})
	}
	return stage
}

// imageEnv is what the image sets.
func imageEnv(t *testing.T) []string {
	var env []string
	for _, i := range lastStage(t) {
		if i.word == "ENV" {
			env = append(env, strings.Fields(i.rest)...)
		}
	}
	return env
}

// config runs pando config in an environment and returns what it prints.
func config(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"config"}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("config %v in %v: %v\n%s", args, env, err, out)
	}
	return string(out)
}

// TestDockerfile: the image begins with nothing, holds the binary and a directory of its user's, and its settings and command are ones that
// the binary takes. TestScratch runs them in an empty root directory; where there is a docker, it builds nothing, because that takes a network.
func TestDockerfile(t *testing.T) {
	stage := lastStage(t)
	if stage[0].rest != "scratch" {
		t.Errorf("the image is made from %s", stage[0].rest)
	}
	var words []string
	for _, i := range stage {
		if slices.Contains([]string{"VOLUME", "ENTRYPOINT", "CMD"}, i.word) {
			var list []string
			if err := json.Unmarshal([]byte(i.rest), &list); err != nil || len(list) != 1 {
				t.Errorf("%s %s: %v; there is no shell for any other form", i.word, i.rest, err)
			}
			words = append(words, list...)
		}
		if i.word == "RUN" || i.word == "USER" && !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(i.rest) {
			t.Errorf("%s %s: there is neither a shell nor a list of users, and root it must not be", i.word, i.rest)
		}
	}
	if !slices.Equal(words, []string{"/data", "/pando", "start"}) {
		t.Errorf("volume, entry point and command are %q", words)
	}
	text := config(t, imageEnv(t))
	for _, want := range []string{`data-dir = "/data"`, "# PANDO_DATA_DIR", `listen = "0.0.0.0:4000"`, `http = "0.0.0.0:10080"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}
}

// TestServiceUnit: the unit's command and settings are ones that the binary takes, and systemd, where it is installed, finds no fault.
func TestServiceUnit(t *testing.T) {
	raw, err := os.ReadFile(serviceUnit)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	command := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/pando start(.*)$`).FindStringSubmatch(text)
	if command == nil {
		t.Fatal("no command")
	}
	var env []string
	for _, line := range regexp.MustCompile(`(?m)^#?Environment=(.*)$`).FindAllStringSubmatch(text, -1) {
		env = append(env, strings.Fields(line[1])...)
	}
	if shown := config(t, env, strings.Fields(command[1])...); !strings.Contains(shown, `socket = "/run/pando/pando.sock"`) {
		t.Errorf("settings:\n%s", shown)
	}
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: the unit's lines are not checked")
	}
	unit := filepath.Join(t.TempDir(), "pando.service")
	if err := os.WriteFile(unit, []byte(strings.Replace(text, "/usr/local/bin/pando", binary, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(systemd, "verify", "--man=no", unit).CombinedOutput()
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(line, "pando.service") {
			t.Error(line)
		}
	}
	if err != nil && !strings.Contains(string(out), "pando.service") {
		t.Skipf("systemd-analyze does not work here: %v, %s", err, out)
	}
}
