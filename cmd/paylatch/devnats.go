package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/devnats"
)

// The stream of `paylatch dev --nats`.
const (
	devStream     = "dev"
	devJetStream  = "PAYLATCH"
	devNATSFolder = "nats"
)

// startNATS runs the NATS server, if it is wanted, with what it stores beside the data of PostgreSQL, and adds its stream to the
// configuration. The address is empty without it.
func (c *devCmd) startNATS(cfg *config.Config) (address string, stop func(), err error) {
	if !c.NATS {
		return "", func() {}, nil
	}
	if slices.ContainsFunc(cfg.Streams, func(s config.Stream) bool { return s.Name == devStream }) {
		return "", nil, config.ValidationErrors{fmt.Sprintf("streams: one is named %s, as that of --nats is; choose another name, or leave --nats out", devStream)}
	}
	server, err := devnats.Start(filepath.Join(cfg.DataDir, devNATSFolder), devnats.AnyPort)
	if err != nil {
		return "", nil, err
	}
	cfg.Streams = append(cfg.Streams, config.Stream{Name: devStream, Kind: "nats", URL: config.Secret(server.URL()), Stream: devJetStream})
	return server.URL(), server.Stop, nil
}
