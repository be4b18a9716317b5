package dev

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/paylatch/paylatch/internal/dev/devnats"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// The stream of `paylatch dev --nats`.
const (
	natsStream = "dev"
	jetStream  = "PAYLATCH"
	natsFolder = "nats"
)

// StartNATS runs a NATS server with its files beside the data of PostgreSQL, and adds its stream to the configuration.
func StartNATS(cfg *config.Config) (address string, stop func(), err error) {
	if slices.ContainsFunc(cfg.Streams, func(s config.Stream) bool { return s.Name == natsStream }) {
		return "", nil, config.ValidationErrors{fmt.Sprintf("streams: one is named %s, as that of --nats is; choose another name, or leave --nats out", natsStream)}
	}
	server, err := devnats.Start(filepath.Join(cfg.DataDir, natsFolder), devnats.AnyPort)
	if err != nil {
		return "", nil, err
	}
	cfg.Streams = append(cfg.Streams, config.Stream{Name: natsStream, Kind: "nats", URL: config.Secret(server.URL()), Stream: jetStream})
	return server.URL(), server.Stop, nil
}
