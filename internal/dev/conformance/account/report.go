package account

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/paylatch/paylatch/internal/payment"
)

//go:embed report.html
var reportHTML string

// report is the report of the run so far.
func (r *run) report(stopped bool) Report {
	out := Report{
		Paylatch: r.Version, Account: r.Name, Kind: r.Kind, StartedAt: r.started.UTC(), FinishedAt: r.Now().UTC(), API: r.hide.texts(r.tap.api()),
		Capabilities: capabilities(r.can), Amount: r.Money.String(), Stopped: stopped, Counts: map[Verdict]int{}, Cases: []Result{}, Left: r.hide.texts(r.left),
	}
	for _, res := range r.results {
		out.Counts[res.Verdict]++
		out.Cases = append(out.Cases, r.hide.result(res))
	}
	return out
}

// capabilities lists the capabilities by the names of their fields.
func capabilities(can payment.Capabilities) map[string]string {
	all := map[string]string{}
	for field, value := range reflect.ValueOf(can).Fields() {
		all[snake(field.Name)] = fmt.Sprint(value.Interface())
	}
	return all
}

// snake is a name as JSON has it.
func snake(name string) string {
	var out strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

// HTML writes the report as a page that needs nothing else.
func (r Report) HTML(w io.Writer) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"words": func(v Verdict) string { return strings.ReplaceAll(string(v), "_", " ") },
		"time":  func(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") },
		"took":  func(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() },
	}).Parse(reportHTML)
	if err == nil {
		err = page.Execute(w, r)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Line is a result for a terminal.
func (r Result) Line() string {
	line := fmt.Sprintf("%-11s  %s", strings.ReplaceAll(string(r.Verdict), "_", " "), r.Case)
	if r.Text != "" {
		line += ": " + r.Text
	}
	if r.Fault != "" {
		line += fmt.Sprintf("\n             fault: %s\n             to do: %s", r.Fault, r.ToDo)
	}
	return line
}
