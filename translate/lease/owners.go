package lease

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema/topology"
)

// Owners tells which worker has each partition that one has, as the bucket says now: a worker that was
// killed a moment ago may be among them.
func Owners(ctx context.Context, js jetstream.JetStream) (map[uint32]string, error) {
	owners, err := owners(ctx, js)
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	return owners, nil
}

// last reads a partition's lease from the bucket's leader; the value is empty if none has it.
func last(ctx context.Context, js jetstream.JetStream, partition uint32) (value string, revision uint64, err error) {
	m, _, err := topology.Last(ctx, js, "KV_"+topology.Leases, subject(partitionKey(partition)))
	if err != nil {
		return "", 0, fmt.Errorf("read lease of partition %d: %w", partition, err)
	}
	return string(m.Data), m.Seq, nil // of a lease that has ended there is an empty marker
}

// workerOf is the name in a lease's value, which the worker's instance follows.
func workerOf(value string) string {
	name, _, _ := strings.Cut(value, " ")
	return name
}

// subject is that of a key.
func subject(key string) string { return "$KV." + topology.Leases + "." + key }

func owners(ctx context.Context, js jetstream.JetStream) (map[uint32]string, error) {
	kv, err := topology.Bucket(ctx, js, topology.Leases)
	if err != nil {
		return nil, err
	}
	owners := map[uint32]string{}
	for e, err := range topology.Entries(ctx, kv, partitionPrefix+"*") {
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(e.Key(), partitionPrefix), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", e.Key(), err)
		}
		owners[uint32(n)] = workerOf(string(e.Value()))
	}
	return owners, nil
}
