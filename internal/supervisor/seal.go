package supervisor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// sealLen is the length of a seal: a HMAC-SHA256 in hexadecimal, in which no
// TrailerEnd can be.
const sealLen = 2 * sha256.Size

// Seal returns a trailer's body with the seal behind it.
func Seal(key, body []byte) []byte {
	return hex.AppendEncode(body, sum(key, body))
}

// Unseal returns the body of a sealed one, if its seal was made with the key.
func Unseal(key, sealed []byte) (body []byte, ok bool) {
	if len(sealed) < sealLen {
		return nil, false
	}
	body, seal := sealed[:len(sealed)-sealLen], sealed[len(sealed)-sealLen:]
	if !hmac.Equal(seal, hex.AppendEncode(nil, sum(key, body))) {
		return nil, false
	}
	return body, true
}

func sum(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil)
}
