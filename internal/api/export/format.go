package export

import (
	"mime"
	"strconv"
	"strings"
)

// Format is a form of an export, empty for a page as JSON.
type Format string

// The formats.
const (
	Lines Format = "application/x-ndjson"
	CSV   Format = "text/csv"
)

// Accepted returns the format that an Accept header prefers: the first of the highest weight. The default is JSON.
func Accepted(header string) Format {
	var best Format
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
			if f := Format(media); f == Lines || f == CSV {
				best = f
			}
		}
	}
	return best
}

// contentType is the format as a header names it.
func (f Format) contentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return string(f)
}
