package api

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/steno-io/steno/schema"
)

// leastToken is how short a token may be, in bytes: what can be guessed is none.
const leastToken = 16

// Operators are who may intervene: their names, which are tokens of an identity, by the SHA-256 of the
// bearer token that each shows. What is compared is no secret's own bytes, so how long that takes says
// nothing of one.
type Operators map[[sha256.Size]byte]string

// ReadOperators reads a list of operators, one a line: a name, space, the token. Empty lines and those that
// begin with # count for nothing. Errors name the line, and nothing that stands in it.
func ReadOperators(from io.Reader) (Operators, error) {
	operators := Operators{}
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 || !schema.IsToken(fields[0]) || len(fields[1]) < leastToken {
			return nil, fmt.Errorf("read operators: line %d: want a name of [A-Za-z0-9_-], and a token of %d characters or more", n, leastToken)
		}
		digest := sha256.Sum256([]byte(fields[1]))
		if _, twice := operators[digest]; twice {
			return nil, fmt.Errorf("read operators: line %d: its token is another one's, too", n)
		}
		operators[digest] = fields[0]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read operators: %w", err)
	}
	return operators, nil
}

// of is who shows the request's token.
func (o Operators) of(r *http.Request) (name string, err error) {
	if len(o) == 0 {
		return "", errNoOperators
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	name, known := o[sha256.Sum256([]byte(strings.TrimSpace(token)))]
	if !known || !strings.EqualFold(scheme, "Bearer") {
		return "", errToken
	}
	return name, nil
}
