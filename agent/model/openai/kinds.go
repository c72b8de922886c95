package openai

import (
	"net/http"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// kindOf sorts a refusal. Status 0 is an error without one.
func kindOf(status int, d detail) model.Kind {
	said := strings.ToLower(d.message + " " + d.kind + " " + d.code)
	switch {
	case d.namesBill(), containsAny(said, "insufficient_quota", "exceeded your current quota", "billing"):
		return model.Permanent
	case status == http.StatusTooManyRequests, status == 0 && containsAny(said, "rate_limit", "rate limit", "too many requests"):
		return model.RateLimited
	case containsAny(said, "content_filter", "content_policy", "content management policy"):
		return model.Filtered
	case isOverflow(said):
		return model.Context
	case status == http.StatusBadRequest && containsAny(said, "api key not valid", "api_key_invalid", "invalid api key"):
		return model.Auth
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.Auth
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return model.Transient
	case http.StatusNotImplemented:
		return model.Permanent
	case 0:
		if containsAny(said, "invalid_request", "invalid request", "not_found", "authentication", "permission", "invalid_api_key") {
			return model.BadRequest
		}
		return model.Transient // an answer that had begun is broken off by trouble on the server
	}
	switch {
	case status == http.StatusInternalServerError && refusal(said).fromTemplate():
		return model.BadRequest // the same conversation fails every time
	case status >= 500:
		return model.Transient
	case status >= 400 && status != http.StatusPaymentRequired:
		return model.BadRequest
	default:
		return model.Permanent
	}
}

// namesBill tells refusals whose code or type names what was paid for as used
// up, which words of a message are no proof of.
func (d detail) namesBill() bool {
	return containsAny(strings.ToLower(d.code+" "+d.kind),
		"insufficient_quota", "exceeded_current_quota", "insufficient_balance", "insufficient_credits", "billing")
}
