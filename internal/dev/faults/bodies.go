package faults

import (
	"fmt"
	"strings"
)

// WorstBodies returns forms of JSON with a high cost for each byte, of at most size bytes. Some have as many values as a body may
// have. No call accepts any of them.
func WorstBodies(size, values int) map[string]string {
	fill := func(head, part, tail string) string {
		return head + strings.Repeat(part, max(0, size-len(head)-len(tail))/len(part)) + tail
	}
	list := func(item string) string { return fill(`{"metadata":[`+item, ","+item, "]}") }
	// most has as many values as a body may have, or bytes.
	most := func(item string, each int) string {
		return `{"metadata":[` + item + strings.Repeat(","+item, min((values-5)/each, (size-30)/(len(item)+1))-1) + "]}"
	}
	var names strings.Builder
	for i := 0; names.Len() < size-40; i++ {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	largest := names.String()
	if parts := strings.SplitAfter(largest, ","); len(parts) > 400 {
		largest = strings.Join(parts[:400], "")
	}
	largest = "{" + largest + `"z":0}`
	return map[string]string{
		"empty lists":   list("[]"),
		"empty objects": list("{}"),
		"numbers":       list("0"),
		"texts":         list(`""`),
		"objects":       list(`{"a":{}}`),
		"nested":        fill("", "[", ""),
		"members":       "{" + names.String() + `"z":0}`,
		"most lists":    most("[]", 2),
		"most objects":  most(`{"a":0}`, 2),
		"most texts":    most(`"a"`, 1),
		"most numbers":  most("1", 1),
		"most members":  most(largest, 402),
		"blanks":        fill(`{"x":0`, " ", "}"),
		"escapes":       fill(`{"description":"`, `\u00e9`, `"}`),
		"surrogates":    fill(`{"description":"`, `\ud83d\ude00`, `"}`),
		"digits":        fill(`{"description":"`, "9", `"}`),
		"runs":          fill(`{"description":"`, "1234567890123 ", `"}`),
		"groups":        fill(`{"description":"`, "1234 5678 9012 3456-", `"}`),
		"long name":     fill(`{"`, "9", `":0}`),
		"long number":   fill(`{"amount":`, "9", `}`),
		"broken":        fill(`{"description":"`, "a", ""),
		"no UTF-8":      fill(`{"description":"`, "a", "\xff\"}"),
	}
}
