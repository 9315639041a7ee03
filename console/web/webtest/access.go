package webtest

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
)

// Control is what somebody who does not see the page is offered to act on.
type Control struct{ Role, Name string }

// Controls are the elements that can have the focus, as the browser tells them to a screen reader.
func (tab *Tab) Controls() (all []Control) {
	tab.t.Helper()
	tree := call(tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	for _, n := range tree.Nodes {
		if n.Ignored || !focusable(n) || said(n.Role) == "RootWebArea" {
			continue
		}
		all = append(all, Control{Role: said(n.Role), Name: strings.TrimSpace(said(n.Name))})
	}
	return all
}

// Roles are the roles of everything that a screen reader is told of, with their names.
func (tab *Tab) Roles() map[string][]string {
	tab.t.Helper()
	all := map[string][]string{}
	for _, n := range call(tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if !n.Ignored {
			all[said(n.Role)] = append(all[said(n.Role)], said(n.Name))
		}
	}
	return all
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

// String says role and name.
func (c Control) String() string { return fmt.Sprintf("%s %q", c.Role, c.Name) }
