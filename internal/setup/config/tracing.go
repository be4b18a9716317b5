package config

import (
	"net/url"
	"strings"
)

// Tracing is the destination of exported traces. Without an endpoint the standard OTEL_EXPORTER_OTLP_* variables count.
type Tracing struct {
	Endpoint string  `koanf:"endpoint" doc:"the OTLP collector, such as http://127.0.0.1:4318, without /v1/traces; absent: OTEL_EXPORTER_OTLP_*, else no traces"`
	Protocol string  `koanf:"protocol" default:"http/protobuf" doc:"always http/protobuf"`
	Sample   float64 `koanf:"sample" default:"1" doc:"the share of exported traces, 0 to 1; the attempt's id decides"`
	Headers  Secret  `koanf:"headers" doc:"headers for the collector: name=value separated by commas, with %xx for special characters"`
}

func (r *report) tracing(t Tracing) {
	r.url("tracing.endpoint", t.Endpoint)
	if u, err := url.Parse(t.Endpoint); err == nil && (u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		r.add("tracing.endpoint", "must be an address without user, query or fragment; put credentials into tracing.headers")
	}
	r.oneOf("tracing.protocol", t.Protocol, "http/protobuf")
	if !(t.Sample >= 0 && t.Sample <= 1) {
		r.add("tracing.sample", "must be from 0 to 1")
	}
	if t.Headers == "" {
		return
	}
	for pair := range strings.SplitSeq(string(t.Headers), ",") {
		name, value, found := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !found || strings.TrimSpace(name) == "" || err != nil {
			r.add("tracing.headers", "must be name=value, with commas between several headers, and special characters of a value as %%xx")
			return
		}
	}
}
