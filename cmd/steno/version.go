package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and those of the translators",
		Example: `  steno version
  steno version --json | jq -r .version`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version     string   `json:"version"`
				Revision    string   `json:"revision,omitempty"`
				Go          string   `json:"go"`
				Translators []string `json:"translators"`
			}{version, revision(), runtime.Version(), translatorVersions()}
			if asJSON {
				return a.out.json(v)
			}
			_, err := fmt.Fprintf(a.out, "steno %s %s (%s, translators %v)\n", v.Version, v.Revision, v.Go, v.Translators)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// revision is the commit that the binary was built from, where the build knows it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
