package webtest

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
)

// Control is what somebody who does not see the page is offered to act on.
type Control struct{ Role, Name string }

// String says role and name.
func (c Control) String() string { return fmt.Sprintf("%s %q", c.Role, c.Name) }

// Access is what the browser tells a screen reader of a page.
type Access struct {
	Controls []Control           // what can have the focus
	Roles    map[string][]string // of everything, with their names
}

// Access gives what a screen reader is told now.
func (tab *Tab) Access() Access {
	tab.t.Helper()
	a := Access{Roles: map[string][]string{}}
	for _, n := range call(tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored {
			continue
		}
		role, name := said(n.Role), strings.TrimSpace(said(n.Name))
		a.Roles[role] = append(a.Roles[role], name)
		if focusable(n) && role != "RootWebArea" {
			a.Controls = append(a.Controls, Control{Role: role, Name: name})
		}
	}
	return a
}

func focusable(n *accessibility.Node) bool {
	for _, p := range n.Properties {
		if p.Name == accessibility.PropertyNameFocusable {
			return string(p.Value.Value) == "true"
		}
	}
	return false
}

func said(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}
