package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}. For bash: source <(paylatch completion bash)."`
}

// Run prints a completion script for a shell. The script does not call the program later.
func (c *completionCmd) Run(a *app) error {
	words := map[string][]string{}
	collect(a.model.Node, "", words)
	paths := make([]string, 0, len(words))
	for path := range words {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	if c.Shell == "fish" {
		return fish(a.stdout, paths, words)
	}
	var b strings.Builder
	if c.Shell == "zsh" {
		b.WriteString("autoload -Uz +X bashcompinit && bashcompinit\n")
	}
	b.WriteString("_paylatch() {\n\tlocal word path=\"\"\n\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n\t\tcase \"$path $word\" in\n")
	for _, path := range paths[1:] {
		fmt.Fprintf(&b, "\t\t%q) path=%q ;;\n", " "+path, " "+path)
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$path\" in\n")
	for _, path := range paths {
		at := path
		if path != "" {
			at = " " + path
		}
		fmt.Fprintf(&b, "\t%q) COMPREPLY=($(compgen -W %q -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n", at, strings.Join(words[path], " "))
	}
	b.WriteString("\tesac\n}\ncomplete -o default -F _paylatch paylatch\n")
	_, err := io.WriteString(a.stdout, b.String())
	return err //nolint:wrapcheck // the error is complete
}

// collect lists the words that may follow each command, by the command's path.
func collect(n *kong.Node, path string, words map[string][]string) {
	words[path] = []string{}
	for _, child := range n.Children {
		if child.Type != kong.CommandNode || child.Hidden {
			continue
		}
		words[path] = append(words[path], child.Name)
		collect(child, strings.TrimPrefix(path+" "+child.Name, " "), words)
	}
	for _, group := range n.AllFlags(true) {
		for _, flag := range group {
			words[path] = append(words[path], "--"+flag.Name)
		}
	}
}

// fish is the script for the shell of that name.
func fish(to io.Writer, paths []string, words map[string][]string) error {
	for _, path := range paths {
		condition := "__fish_use_subcommand"
		if path != "" {
			condition = "string match -q -- 'paylatch " + path + " *' (string join ' ' (commandline -opc))' '"
		}
		if _, err := fmt.Fprintf(to, "complete -c paylatch -n %q -a %q\n", condition, strings.Join(words[path], " ")); err != nil {
			return err //nolint:wrapcheck // the error is complete
		}
	}
	return nil
}
