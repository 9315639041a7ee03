package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// intruder is the README's user with a plain client.
type intruder struct {
	*nats.Conn
	t      *testing.T
	errors chan error
}

func (r *rig) intruder() *intruder {
	r.t.Helper()
	i := &intruder{t: r.t, errors: make(chan error, 16)}
	var err error
	i.Conn, err = nats.Connect(r.console(), nats.CustomInboxPrefix("_INBOX_console"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { i.errors <- err }))
	require.NoError(r.t, err)
	r.t.Cleanup(i.Close)
	return i
}

// refused waits until the server has refused what was done last.
func (i *intruder) refused(what, subject string) {
	i.t.Helper()
	require.NoError(i.t, i.Flush())
	select {
	case err := <-i.errors:
		require.ErrorIs(i.t, err, nats.ErrPermissionViolation)
		require.ErrorContains(i.t, err, fmt.Sprintf("%s %q", what, subject))
	case <-time.After(within):
		require.Fail(i.t, "not refused", "%s %s", what, subject)
	}
}

// lastSeqs are the ends of the streams that a console must not change.
func (r *rig) lastSeqs() map[string]uint64 {
	r.t.Helper()
	last := map[string]uint64{}
	for _, name := range []string{topology.Raw, topology.Events, "OBJ_" + topology.Blob, "KV_" + topology.Filed} {
		stream, err := r.js.Stream(r.bounded(), name)
		require.NoError(r.t, err)
		last[name] = stream.CachedInfo().State.LastSeq
	}
	return last
}

// The README's user can do nothing but what the console needs: not write, not delete, not read frames,
// snapshots or other namespaces, not listen to others.
func TestTheConsoleMayDoNothingElse(t *testing.T) {
	r := newRig(t)
	r.translator()
	k := r.begin("run")
	key := schema.Transcript{Identity: k.id, Session: 1}
	s, ends := r.join(key)
	k.say("agent_message_chunk", 0, 10)
	s.until(t, func(text string) bool { return strings.HasSuffix(text, "w9 ") })
	k.end()
	ends()
	before, i := r.lastSeqs(), r.intruder()

	own, other := k.id.Subject(), "0.other.w.run.0.1"
	for _, subject := range []string{
		schema.RawSubject(k.id, schema.Partitions), schema.EventSubject(k.id, schema.Partitions), schema.StateSubject(k.id, schema.Partitions),
		"steno.delta." + own + ".1", "steno.stored." + own + ".1", "steno.intervene." + own, "steno.redrive.0." + own,
		"steno.open." + other, "$KV.STENO_PARKED." + own, "$KV.STENO_LEASES.partition.0", "$KV.STENO_FILED.task.x",
		"$O.STENO_BLOBS.M.eA==", "$O.STENO_BLOBS.C.x", "_INBOX.x.y", "$SYS.REQ.SERVER.PING",
	} {
		require.NoError(t, i.Publish(subject, []byte("x")))
		i.refused("Publish to", subject)
	}
	for _, call := range []string{
		"INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.STENO_EVENTS", "STREAM.CREATE.MINE", "STREAM.UPDATE.STENO_EVENTS",
		"STREAM.DELETE.STENO_EVENTS", "STREAM.DELETE.STENO_RAW", "STREAM.PURGE.STENO_EVENTS", "STREAM.PURGE.STENO_STATE", "STREAM.SNAPSHOT.STENO_RAW",
		"STREAM.MSG.GET.STENO_STATE", "STREAM.MSG.GET.STENO_RAW", "STREAM.MSG.GET.STENO_EVENTS", "STREAM.MSG.DELETE.STENO_EVENTS",
		"DIRECT.GET.STENO_STATE", "DIRECT.GET.STENO_STATE.steno.state.0." + own, "DIRECT.GET.OBJ_STENO_BLOBS", "DIRECT.GET.KV_STENO_PARKED.$KV.STENO_PARKED." + own,
		"CONSUMER.CREATE.STENO_STATE.x.steno.state.0." + own, "CONSUMER.CREATE.STENO_RAW.x.steno.raw.0." + own,
		"CONSUMER.CREATE.STENO_EVENTS", "CONSUMER.CREATE.STENO_EVENTS.x", "CONSUMER.CREATE.STENO_EVENTS.x.steno.event.>",
		"CONSUMER.CREATE.STENO_EVENTS.x.steno.event.*.*.>", "CONSUMER.CREATE.STENO_EVENTS.x.steno.event." + other,
		"CONSUMER.DURABLE.CREATE.STENO_EVENTS.x", "CONSUMER.DELETE.STENO_EVENTS.x", "CONSUMER.LIST.STENO_EVENTS", "CONSUMER.NAMES.STENO_EVENTS",
		"CONSUMER.MSG.NEXT.STENO_RAW.x", "CONSUMER.MSG.NEXT.STENO_STATE.x",
	} {
		for _, api := range []string{"STENO_API.", "$JS.API."} {
			require.NoError(t, i.Publish(api+call, nil))
			i.refused("Publish to", api+call)
		}
	}
	for _, subject := range []string{
		">", "steno.>", "steno.raw.>", "steno.event.>", "steno.state.>", "steno.delta.>", "steno.delta.other.>", "steno.stored.>", "steno.open.>",
		"_INBOX.>", "$JS.EVENT.>", "$KV.>", "$O.>", "$SYS.>",
	} {
		_, err := i.SubscribeSync(subject)
		require.NoError(t, err)
		i.refused("Subscription to", subject)
	}

	i.elsewhere(k.id)
	require.Equal(t, before, r.lastSeqs())
	_, err := topology.Check(r.bounded(), r.js)
	require.NoError(t, err)
}

// elsewhere has answers sent to subjects of the streams in the place of an inbox: no permission covers
// where an answer goes. From another account they go to that account's subject of the name.
func (i *intruder) elsewhere(id schema.Identity) {
	i.t.Helper()
	request := func(subject, body string) *nats.Msg {
		i.t.Helper()
		m, err := i.Request(subject, []byte(body), within)
		require.NoError(i.t, err)
		return m
	}
	raw, open := "steno.raw.0.default.w.mine.0.1", schema.OpenSubject(id, schema.Partitions)
	require.NoError(i.t, i.PublishRequest(open, raw, nil))
	require.NotEmpty(i.t, request(open, "").Data, "the owner answers one after the other")

	events := schema.EventSubject(id, schema.Partitions)
	consumer := func(name, filter, more string) (code int) {
		i.t.Helper()
		var answer struct {
			Error struct {
				Code int `json:"err_code"`
			} `json:"error"`
		}
		m := request("STENO_API.CONSUMER.CREATE.STENO_EVENTS."+name+"."+events, fmt.Sprintf(
			`{"stream_name":"STENO_EVENTS","config":{"name":%q,"deliver_policy":"all","ack_policy":"none","replay_policy":"instant","filter_subject":%q%s}}`, name, filter, more))
		require.NoError(i.t, json.Unmarshal(m.Data, &answer))
		return answer.Error.Code
	}
	require.Equal(i.t, 10131, consumer("wide", "steno.event.>", ""), "the filter must be the subject's")
	require.Zero(i.t, consumer("push", events, `,"deliver_subject":"`+raw+`"`))
	require.Zero(i.t, consumer("pull", events, ""))
	next := "STENO_API.CONSUMER.MSG.NEXT.STENO_EVENTS.pull"
	require.NoError(i.t, i.PublishRequest(next, raw, []byte(`{"batch":1}`)))
	m := request(next, `{"batch":1}`)
	meta, err := m.Metadata()
	require.NoError(i.t, err)
	require.Equal(i.t, uint64(1), meta.Sequence.Consumer, "in this account nobody listens there, so nothing was sent")
}
