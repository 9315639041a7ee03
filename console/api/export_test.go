package api

// Paths are those of all routes.
func Paths() (all []string) {
	for _, r := range routes {
		all = append(all, r.path)
	}
	return all
}
