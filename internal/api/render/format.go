package render

import (
	"mime"
	"strconv"
	"strings"
)

// ExportFormat is a form of an export, empty for a page as JSON.
type ExportFormat string

// The formats.
const (
	Lines ExportFormat = "application/x-ndjson"
	CSV   ExportFormat = "text/csv"
)

// AcceptedFormat returns the format that an Accept header prefers: the first of the highest weight. The default is JSON.
func AcceptedFormat(header string) ExportFormat {
	var best ExportFormat
	most := 0.0
	for part := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		weight := 1.0
		if q, stated := params["q"]; stated {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if weight > most {
			best, most = "", weight
			if f := ExportFormat(media); f == Lines || f == CSV {
				best = f
			}
		}
	}
	return best
}

// contentType is the format as a header names it.
func (f ExportFormat) contentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return string(f)
}
