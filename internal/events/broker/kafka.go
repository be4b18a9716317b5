package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// ErrTopic is returned for a topic that does not exist. It is never created.
var ErrTopic = errors.New("the Kafka topic does not exist: create it with the partitions and replicas that you need, or set topic to another topic")

// Kafka is a topic. A message's key is its order's id; the headers id and type are those of the event,
// traceparent is that of its delivery where traces are on.
type Kafka struct {
	Brokers []string
	Topic   string
	TLS     bool
	SASL    SASL
}

// SASL holds the client's authentication.
type SASL struct {
	// Mechanism is Plain, ScramSHA256 or ScramSHA512; empty without SASL.
	Mechanism, Username, Password string
}

// The mechanisms of SASL.
const (
	Plain       = "plain"
	ScramSHA256 = "scram-sha-256"
	ScramSHA512 = "scram-sha-512"
)

// Open connects. It returns ErrTopic.
func (k Kafka) Open(ctx context.Context) (Broker, error) {
	client, err := kgo.NewClient(k.options()...)
	if err != nil {
		return nil, fmt.Errorf("configure the client of Kafka: %w", err)
	}
	if err := k.check(ctx, client); err != nil {
		client.Close()
		return nil, err
	}
	return &kafkaBroker{Kafka: k, client: client}, nil
}

func (k Kafka) options() []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(k.Brokers...), kgo.ClientID("paylatch"), kgo.DefaultProduceTopic(k.Topic),
		// The client's own retries are dropped by the broker (idempotent, the default, which needs all replicas).
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.UnknownTopicRetries(1),
		// A broker that does not respond must not hold a pass for ever. After an error the connection is closed, and
		// messages that are sent again over the next connection may be stored twice.
		kgo.AllowIdempotentProduceCancellation(),
	}
	if k.TLS {
		options = append(options, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	switch k.SASL.Mechanism {
	case Plain:
		options = append(options, kgo.SASL(plain.Auth{User: k.SASL.Username, Pass: k.SASL.Password}.AsMechanism()))
	case ScramSHA256:
		options = append(options, kgo.SASL(scram.Auth{User: k.SASL.Username, Pass: k.SASL.Password}.AsSha256Mechanism()))
	case ScramSHA512:
		options = append(options, kgo.SASL(scram.Auth{User: k.SASL.Username, Pass: k.SASL.Password}.AsSha512Mechanism()))
	}
	return options
}

// check returns ErrTopic where the topic does not exist.
func (k Kafka) check(ctx context.Context, client *kgo.Client) error {
	r := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &k.Topic
	r.Topics = append(r.Topics, topic)
	response, err := r.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("connect to Kafka: %w", err)
	}
	for _, t := range response.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return k.failed("look up topic "+k.Topic, err)
		}
	}
	return nil
}

// failed wraps an error with advice for the operator.
func (k Kafka) failed(what string, err error) error {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("%w: %s: %w", ErrTopic, k.Topic, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// kafkaBroker is a connection to Kafka.
type kafkaBroker struct {
	Kafka

	client *kgo.Client
}

// Publish implements Broker. If the cluster refuses a message, the idempotent producer fails the later messages of the
// partition as well. If the client itself refuses a message, such as one too large for a batch, the producer sends the later
// messages. So Publish sends in rounds, too.
func (b *kafkaBroker) Publish(ctx context.Context, messages []Message) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	return inRounds(messages, func(round []int) []error {
		errs := make([]error, len(round))
		var waiting sync.WaitGroup
		waiting.Add(len(round))
		for i, n := range round {
			b.client.Produce(ctx, record(messages[n]), func(_ *kgo.Record, err error) {
				defer waiting.Done()
				if err != nil && ctx.Err() != nil {
					err = unanswered(ctx)
				}
				if err != nil {
					errs[i] = b.failed("publish event "+messages[n].ID+" to Kafka", err)
				}
			})
		}
		waiting.Wait()
		return errs
	})
}

func record(m Message) *kgo.Record {
	r := &kgo.Record{
		Key: []byte(m.Key()), Value: m.Body,
		Headers: []kgo.RecordHeader{{Key: "id", Value: []byte(m.ID)}, {Key: "type", Value: []byte(m.Type)}},
	}
	if m.Traceparent != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: headerTraceparent, Value: []byte(m.Traceparent)})
	}
	return r
}

// Close implements Broker.
func (b *kafkaBroker) Close() { b.client.Close() }
