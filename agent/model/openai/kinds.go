package openai

import (
	"net/http"
	"strings"

	"github.com/belljar/belljar/agent/model"
)

// kindOf sorts a refusal. Status 0 is an error without one.
func kindOf(status int, d detail) model.Kind {
	said := d.words()
	switch {
	case d.namesBill(), isUsedUp(said):
		return model.Permanent
	case isTooMuchAtOnce(said) && (status == 0 || status == http.StatusTooManyRequests):
		return model.Context
	case status == http.StatusTooManyRequests, status == 0 && containsAny(said, "rate_limit", "rate limit", "too many requests"):
		return model.RateLimited
	case d.isBadCall() && (status == 0 || status == http.StatusBadRequest || status == http.StatusInternalServerError):
		return model.BadCall
	case d.isFiltered():
		return model.Filtered
	case isOverflow(said), status == http.StatusRequestEntityTooLarge:
		return model.Context
	case status == http.StatusBadRequest && containsAny(said, "api key not valid", "api_key_invalid", "invalid api key"):
		return model.Auth
	}
	return kindOfStatus(status, said)
}

// kindOfStatus sorts a refusal whose words are none of the known ones.
func kindOfStatus(status int, said string) model.Kind {
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

// namesBill tells refusals that say for certain that what was paid for is used
// up: by their code or type, or in words that nobody has for a limit that
// passes. "Billing" is no such word: it is in the address of many a page on
// rate limits.
func (d detail) namesBill() bool {
	said, codes := strings.ToLower(d.message), strings.ToLower(d.code+" "+d.kind)
	switch {
	case isThrottling(said):
		return false
	case d.hasCode("1113"): // GLM
		return true
	case containsAny(codes, "insufficient_quota", "exceeded_current_quota", "insufficient_balance", "insufficient_credits",
		"billing", "arrearage", "accountoverdue", "freetieronly"):
		return true
	case refusal(said).matches(`quota exceeded for metric[^\n]*\blimit: 0\b`): // Google, of what an account has none of
		return true
	}
	return containsAny(said,
		"insufficient balance", "balance is insufficient", "insufficient credits", "insufficient funds", "no resource package", "余额不足",
		"credit balance is too low", "out of credits", "used all available credits", "any credits yet", "requires more credits",
		"overdue balance", "billing hard limit", "check your billing details", "monthly spending limit", "credit limit exceeded",
		"key limit exceeded", "account is not active", "free tier of the model has been exhausted")
}

// isThrottling tells what reads like a bill and is the limit of a minute, as
// Alibaba's Model Studio words it.
func isThrottling(said string) bool {
	return containsAny(said, "allocated quota exceeded") ||
		containsAny(said, "exceeded your current quota") && containsAny(said, "aliyun.com", "alibabacloud.com")
}

// isUsedUp tells refusals that are about the bill, unless they say when it is
// over: Google words the limit of a minute the same way.
func isUsedUp(said string) bool {
	return containsAny(said, "insufficient_quota", "exceeded your current quota") && !isThrottling(said)
}

// isTooMuchAtOnce tells refusals of one request that has more than may come in
// a minute. They come with the status of a rate limit, but no wait gets past
// them.
func isTooMuchAtOnce(said string) bool {
	return containsAny(said, "request too large", "tokens must be reduced", "reduce your message size",
		"reduce the length of the messages", "context_length_exceeded")
}

// isFiltered tells refusals of what is asked for or answered, whatever their
// status.
func (d detail) isFiltered() bool {
	return d.hasCode("1301") || containsAny(d.words(), // GLM
		"content_filter", "content_policy", "content filtering", "content management policy", "responsibleaipolicy",
		"flagged as potentially violating", "moderation_blocked", "our safety system", // OpenAI
		"violates usage guidelines", "safety_check_type", // xAI
		"data_inspection_failed", "datainspectionfailed", "inappropriate content", // Qwen
		"content exists risk",                     // DeepSeek
		"considered high risk",                    // Kimi
		"unsafe or sensitive content", "不安全或敏感内容", // GLM
		"sensitivecontentdetected", "new_sensitive", // Doubao, MiniMax
		"requires moderation", "was flagged for", // OpenRouter
		"prohibited_content") // Gemini
}

// hasCode reports whether the code, or the type that some put it into, is the
// one given.
func (d detail) hasCode(code string) bool { return d.code == code || d.kind == code }
