package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

func (c call) curl() string {
	lines := []string{"curl -sS"}
	if c.streams {
		lines[0] += " -N"
	}
	if !c.reads() && (c.body == "" || c.method != http.MethodPost) { // curl posts a body
		lines[0] += " -X " + c.method
	}
	lines[0] += ` "$API` + c.path + `"`
	if c.bearer != "" {
		lines = append(lines, `-H "Authorization: Bearer $`+c.bearer+`"`)
	}
	for _, h := range c.headers {
		lines = append(lines, "-H "+shell(h.name+": "+h.value))
	}
	if c.body != "" {
		lines = append(lines, "-d "+shell(c.body))
	}
	return strings.Join(lines, " \\\n  ")
}

// shell quotes a text for a shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (c call) golang() string {
	var b strings.Builder
	body := "nil"
	if c.body != "" {
		b.WriteString("body := strings.NewReader(`" + indented(c.body) + "`)\n")
		body = "body"
	}
	fmt.Fprintf(&b, "req, err := http.NewRequestWithContext(ctx, %q, base+%q, %s)\n", c.method, c.path, body)
	b.WriteString("if err != nil {\n\treturn err\n}\n")
	if c.bearer != "" {
		b.WriteString("req.Header.Set(\"Authorization\", \"Bearer \"+token)\n")
	}
	for _, h := range c.headers {
		fmt.Fprintf(&b, "req.Header.Set(%q, %q)\n", h.name, h.value)
	}
	b.WriteString("resp, err := http.DefaultClient.Do(req)\nif err != nil {\n\treturn err\n}\ndefer resp.Body.Close()\n" +
		"_, err = io.Copy(os.Stdout, resp.Body)\nreturn err")
	return b.String()
}

func (c call) node() string {
	var b strings.Builder
	fmt.Fprintf(&b, "const response = await fetch(base + %s", script(c.path))
	if c.bearer != "" || len(c.headers) > 0 || !c.reads() {
		b.WriteString(", {\n")
		if !c.reads() {
			fmt.Fprintf(&b, "  method: %s,\n", script(c.method))
		}
		c.nodeHeaders(&b)
		if c.body != "" {
			b.WriteString("  body: JSON.stringify(" + strings.ReplaceAll(indented(c.body), "\n", "\n  ") + "),\n")
		}
		b.WriteString("}")
	}
	b.WriteString(");\n")
	if c.streams {
		b.WriteString("for await (const part of response.body) process.stdout.write(part);")
	} else {
		b.WriteString("console.log(response.status, await response.text());")
	}
	return b.String()
}

func (c call) nodeHeaders(b *strings.Builder) {
	if c.bearer == "" && len(c.headers) == 0 {
		return
	}
	b.WriteString("  headers: {\n")
	if c.bearer != "" {
		b.WriteString("    Authorization: `Bearer ${token}`,\n")
	}
	for _, h := range c.headers {
		fmt.Fprintf(b, "    %s: %s,\n", script(h.name), script(h.value))
	}
	b.WriteString("  },\n")
}

// script writes a text as a literal of JavaScript, which any JSON is.
func script(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // every text can be written
	}
	return string(literal)
}

// indented writes JSON over several lines; a text that is no JSON stays as it is.
func indented(text string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		return text
	}
	return b.String()
}
