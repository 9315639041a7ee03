package compat_test

import "encoding/json"

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// call is a JSON-RPC request; params may be empty for none.
func call(method, params string) string {
	if params == "" {
		return `{"jsonrpc":"2.0","id":"r","method":` + quoted(method) + `}`
	}
	return `{"jsonrpc":"2.0","id":"r","method":` + quoted(method) + `,"params":` + params + `}`
}

// answer is a JSON-RPC response.
func answer(result string) string { return `{"jsonrpc":"2.0","id":"r","result":` + result + `}` }
