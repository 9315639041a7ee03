package compat_test

import (
	"strings"
	"testing"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

func BenchmarkChunkDown(b *testing.B) {
	bench(b, responseDown("SendStreamingMessage"), answer(`{"artifactUpdate":{"append":true,"artifact":{"artifactId":"01a228e9-2b46-7a97","parts":[{"text":" the next word"}]},"contextId":"01a228e9-2b46-7a3c","taskId":"01a228e9-2b46-79e3"}}`))
}

func BenchmarkRequestUp(b *testing.B) { bench(b, compat.RequestUp, sendOf03) }

func BenchmarkTenMegabytesDown(b *testing.B) {
	bench(b, responseDown("GetTask"), answer(`{"id":"t","contextId":"c","status":{"state":3},"artifacts":[{"artifactId":"a","parts":[{"raw":"`+strings.Repeat("QUJD", 2_500_000)+`"}]}]}`))
}

// BenchmarkManyMembersDown is what a hostile peer may send: time must grow with the bytes alone.
func BenchmarkManyMembersDown(b *testing.B) {
	many := strings.Repeat(`"task_id":1,"v":2,"url":"u",`, 100_000)
	bench(b, responseDown("SendMessage"), answer(`{"task":{"taskId":1,`+many+`"parts":[]},`+many+`"x":1}`))
}

func bench(b *testing.B, f rewriter, text string) {
	body := []byte(text)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := f(body); err != nil {
			b.Fatal(err)
		}
	}
}
