package interop

import (
	"fmt"
	"testing"
)

// Many clients of several forms at once hear what one hears alone.
func TestManyClientsAtOnce(t *testing.T) {
	const each = 4
	s := v10server(t, options{})
	p := startTap(t, s.url)
	happy := scenario{name: "happy", want: happily}
	var told []transcript
	t.Run("together", func(t *testing.T) {
		for _, f := range forms {
			if f.noTask == "" { // of the old line
				continue
			}
			alone := f.talk(t, s, s.url, false, happy.speak(true))
			for i := range each {
				told = append(told, f.told(happy, true))
				t.Run(fmt.Sprintf("%s %d", f.name, i+1), func(t *testing.T) {
					t.Parallel()
					hears(t, s, p, alone, f.talk(t, s, p.url, false, happy.speak(true)))
				})
			}
		}
	})
	p.hasTold(t, told)
}
