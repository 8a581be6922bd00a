package ironstage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// engineWithin is the time that docker or podman has to say whether it works.
const engineWithin = 10 * time.Second

// program is a program to start, and why no earlier one.
type program struct {
	argv  []string
	tried []string
}

func (found program) how() string {
	text := "\nHow it was started:\n" + linesOf(found.tried)
	// What fetches a program fails where there is no network, and says nothing of the other ways.
	if len(found.tried) > fetchedAfter {
		text += "\n" + remedy
	}
	return text
}

// fetchedAfter is the number of attempts before one that fetches: IRONSTAGE, and ironstage on PATH.
const fetchedAfter = 2

const remedy = "Set IRONSTAGE to the path of the program, or install it with npm."

func linesOf(tried []string) string {
	return "  " + strings.Join(tried, "\n  ")
}

// programOf is the command of the options, else the program that IRONSTAGE names, else one on PATH, else a container, else
// npx.
func programOf(ctx context.Context, options Options) (program, error) {
	if len(options.Command) > 0 {
		return program{options.Command, []string{"the command given: " + options.Command[0]}}, nil
	}
	if named := os.Getenv("IRONSTAGE"); named != "" {
		tried := []string{"IRONSTAGE: " + named}
		if strings.HasSuffix(named, ".js") {
			return program{[]string{"node", named}, tried}, nil
		}
		return program{[]string{named}, tried}, nil
	}
	tried := []string{"IRONSTAGE: not set"}
	if path, err := exec.LookPath("ironstage"); err == nil {
		return program{[]string{path}, append(tried, "ironstage on PATH: "+path)}, nil
	}
	tried = append(tried, "ironstage on PATH: none")
	container, err := findContainer(ctx, options.Env)
	if err == nil {
		tried = append(tried, fmt.Sprintf("a container: %s with %s:%s", container[0], containerImage, Version))
		return program{container, tried}, nil
	}
	tried = append(tried, fmt.Sprintf("a container: %v", err))
	if path, err := exec.LookPath("npx"); err == nil {
		argv := npx(path)
		return program{argv, append(tried, "npx: "+strings.Join(argv, " "))}, nil
	}
	tried = append(tried, "npx: none on PATH")
	return program{}, fmt.Errorf(
		"no program ironstage was found; tried:\n%s\n%s", linesOf(tried), remedy)
}

// npx never runs what another owner has published under the name: what is not published is only taken where it is installed.
func npx(path string) []string {
	if npmPackage == "" {
		return []string{path, "--no", "ironstage@" + Version}
	}
	return []string{path, "--yes", npmPackage + "@" + Version}
}

// findContainer is the command of a container; the error says why there is none.
func findContainer(ctx context.Context, env []string) ([]string, error) {
	if containerImage == "" {
		return nil, fmt.Errorf("no image of %s is published", Version)
	}
	var failures []string
	for _, engine := range []string{"docker", "podman"} {
		path, err := exec.LookPath(engine)
		if err != nil {
			failures = append(failures, engine+": none on PATH")
			continue
		}
		if err := engineWorks(ctx, path, env); err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", engine, err))
			continue
		}
		return containerOf(path, env)
	}
	return nil, errors.New(strings.Join(failures, "; "))
}

// engineWorks asks the engine: the command of docker may be there without its service.
func engineWorks(ctx context.Context, engine string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, engineWithin)
	defer cancel()
	command := exec.CommandContext(ctx, engine, "version")
	command.Env = env
	_, err := command.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) && len(ended.Stderr) > 0 {
		lines := strings.Split(strings.TrimSpace(string(ended.Stderr)), "\n")
		return errors.New(lines[len(lines)-1])
	}
	return err
}

// containerOf is a container with the network of this computer, its variables of ironstage, and the current folder, which
// it may read as the user of this process: a home is often closed to others, and labelled by SELinux.
func containerOf(engine string, env []string) ([]string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	argv := []string{engine, "run", "--rm", "--interactive", "--network", "host"}
	argv = append(argv, "--user", userIn(engine), "--security-opt", "label=disable")
	argv = append(argv, "--volume", folder+":"+folder+":ro", "--workdir", folder)
	if env == nil {
		env = os.Environ()
	}
	var passed []string
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "IRONSTAGE_") {
			passed = append(passed, name)
		}
	}
	sort.Strings(passed)
	for _, name := range passed {
		argv = append(argv, "--env", name)
	}
	return append(argv, containerImage+":"+Version), nil
}

// userIn is the user of this process as a container of the engine numbers it: in one of Podman the user who starts it is root.
func userIn(engine string) string {
	if strings.Contains(filepath.Base(engine), "podman") || os.Getuid() < 0 {
		return "0:0"
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
}
