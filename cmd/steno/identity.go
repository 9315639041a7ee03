package main

import (
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
)

// identityFlags are the flags of commands that write: what the capture is called.
type identityFlags struct {
	namespace string
	workflow  string
	run       string
	activity  uint64
	attempt   uint32
}

func (f *identityFlags) register(cmd *cobra.Command, workflow, run string) {
	p := cmd.Flags()
	p.StringVar(&f.namespace, "namespace", "default", "namespace of the capture")
	p.StringVar(&f.workflow, "workflow", "", "workflow of the capture (default: "+workflow+")")
	p.StringVar(&f.run, "run", "", "run of the capture (default: "+run+")")
	p.Uint64Var(&f.activity, "activity", 0, "activity of the capture")
	p.Uint32Var(&f.attempt, "attempt", 1, "attempt of the capture")
}

// identity is the identity that the flags name.
func (a *app) identity(f *identityFlags, workflow, run string) (schema.Identity, error) {
	id := schema.Identity{Namespace: f.namespace, Workflow: f.workflow, Run: f.run, Activity: f.activity, Attempt: f.attempt}
	if id.Workflow == "" {
		id.Workflow = workflow
	}
	if id.Run == "" {
		id.Run = run
	}
	if err := id.Validate(); err != nil {
		return id, a.badValue(err, "namespace", "workflow", "run", "activity", "attempt")
	}
	return id, nil
}
