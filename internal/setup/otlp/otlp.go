package otlp

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/internal/setup/config"
)

const (
	// tracesPath follows the address of a collector.
	tracesPath = "/v1/traces"
	// stopTime bounds how long the end of the process waits for the collector.
	stopTime = 2 * time.Second
	// retryAtMost bounds for how long one batch is sent again: the queue fills behind it.
	retryFirst, retryLongest, retryAtMost = time.Second, 5 * time.Second, 20 * time.Second
	// quietTime is the least time between two lines of log about the collector.
	quietTime = time.Minute
)

// Begin returns a context whose spans are exported, and a function that ends the export. It returns ctx as it is if neither the
// configuration nor the standard variables of the environment name a collector. A collector that does not respond is no error.
func Begin(ctx context.Context, c config.Tracing, version string, log zerolog.Logger) (context.Context, func(), error) {
	if !wanted(c, log) {
		return ctx, func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx, options(c)...)
	if err != nil {
		return ctx, nil, fmt.Errorf("tracing: %w", err)
	}
	made, err := resource.New(ctx,
		resource.WithHost(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "paylatch"), attribute.String("service.version", version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		log.Warn().Err(err).Msg("some attributes of this process are missing from its traces")
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(quietly(log, time.Now))) //nolint:forbidigo // of the process
	sampled := share(c.Sample)
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter), sdk.WithResource(made), sdk.WithSampler(sampled), sdk.WithIDGenerator(ids{}),
	)
	log.Info().Str("share", fmt.Sprint(c.Sample)).Msg("traces are exported")
	t := &tracer{Tracer: provider.Tracer("github.com/paylatch/paylatch"), share: sampled, now: time.Now} //nolint:forbidigo // of spans
	return tracing.With(ctx, t), func() {
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := provider.Shutdown(rest); err != nil {
			log.Warn().Err(err).Msg("the last spans were not exported")
		}
	}, nil
}

// protocol is the only protocol of the export.
const protocol = "http/protobuf"

// wanted reports whether a collector is named, and no standard variable disables this export.
func wanted(c config.Tracing, log zerolog.Logger) bool {
	const traces, all = "OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if c.Endpoint != "" {
		return true
	}
	if cmp.Or(os.Getenv(traces+"ENDPOINT"), os.Getenv(all+"ENDPOINT")) == "" || cmp.Or(os.Getenv("OTEL_TRACES_EXPORTER"), "otlp") != "otlp" {
		return false
	}
	if p := cmp.Or(os.Getenv(traces+"PROTOCOL"), os.Getenv(all+"PROTOCOL"), protocol); p != protocol {
		log.Warn().Msg("no traces are exported: OTEL_EXPORTER_OTLP_PROTOCOL is not " + protocol + "; set tracing.endpoint, or that variable")
		return false
	}
	return true
}

// options returns the options of the configuration. For options that it does not set, the exporter reads the standard variables.
func options(c config.Tracing) []otlptracehttp.Option {
	list := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: retryFirst, MaxInterval: retryLongest, MaxElapsedTime: retryAtMost,
	})}
	if c.Endpoint != "" {
		list = append(list, otlptracehttp.WithEndpointURL(strings.TrimSuffix(c.Endpoint, "/")+tracesPath))
	}
	if c.Headers != "" {
		list = append(list, otlptracehttp.WithHeaders(headers(string(c.Headers))))
	}
	return list
}

// headers reads name=value pairs, as config has checked them.
func headers(text string) map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			plain = strings.TrimSpace(value)
		}
		all[strings.TrimSpace(name)] = plain
	}
	return all
}

// quietly returns a handler of the library's errors that logs one of them at times.
func quietly(log zerolog.Logger, now func() time.Time) func(error) {
	var last atomic.Int64
	return func(err error) {
		at, was := now().UnixNano(), last.Load()
		if was != 0 && at-was < int64(quietTime) || !last.CompareAndSwap(was, at) {
			return
		}
		log.Warn().Err(err).Msg("traces are not exported; paylatch drops them until the export works again")
	}
}
