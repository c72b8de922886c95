package openai

import (
	"crypto/sha256"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/model/provider"
)

const (
	idLength    = 9  // of an id that is made up
	shortLength = 40 // of the longest id that OpenAI takes back
	digits      = "0123456789"
	letters     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// mapIDs gives the calls of a repaired conversation, and their results, ids of
// the form, no two alike. What has the form stays. The ids depend on nothing
// but the conversation before them, so that a request begins like the one
// before it and a server's cache holds.
func mapIDs(messages []model.Message, form provider.IDs) []model.Message {
	out := slices.Clone(messages)
	taken := map[string]bool{}
	for i, m := range out {
		if len(m.Calls) == 0 {
			continue
		}
		calls := slices.Clone(m.Calls)
		for n := range calls {
			id := calls[n].ID
			for salt := 0; taken[id] || !hasForm(id, form); salt++ {
				id = madeUp(calls[n].ID, salt)
			}
			taken[id] = true
			calls[n].ID, out[i+1+n].CallID = id, id
		}
		out[i].Calls = calls
	}
	return out
}

// hasForm reports whether a server with that rule takes the id.
func hasForm(id string, form provider.IDs) bool {
	switch form {
	case provider.IDsNine:
		return len(id) == idLength && strings.Trim(id, digits+letters) == ""
	case provider.IDsShort:
		return id != "" && len(id) <= shortLength && strings.Trim(id, digits+letters+"_-") == ""
	default:
		return id != ""
	}
}

// madeUp is an id of the strictest form that stands for another one.
func madeUp(id string, salt int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(salt) + " " + id))
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return text[len(text)-idLength:]
}
