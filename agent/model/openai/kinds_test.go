package openai_test

import (
	"testing"
	"time"

	"github.com/belljar/belljar/agent/model"
)

// TestKinds: what servers are known to say means what it means, whatever the
// status that it comes with.
func TestKinds(t *testing.T) {
	said := func(message string) string { return `{"error":{"message":"` + message + `"}}` }
	tests := map[string]map[string]struct {
		status int
		body   string
	}{
		string(model.Permanent): {
			"GLM":                         {429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`},
			"GLM, in Chinese":             {429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`},
			"GLM, by its type":            {429, `{"type":"error","error":{"type":"1113","message":"[1113][...]"}}`},
			"GLM, by a gateway":           {429, said("Insufficient balance or no resource package. Please recharge.")},
			"DeepSeek":                    {402, said("Insufficient Balance")},
			"Anthropic":                   {400, said("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")},
			"xAI":                         {429, `"Your team x has either used all available credits or reached its monthly spending limit. To continue, purchase more credits."`},
			"xAI, forbidden":              {403, `{"code":"permission-denied","error":"Your team x has either used all available credits or reached its monthly spending limit."}`},
			"OpenAI, not active":          {429, `{"error":{"message":"Your account is not active, please check your billing details on our website.","type":"billing_not_active","code":"billing_not_active"}}`},
			"OpenRouter, a key's limit":   {403, said("Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys")},
			"Qwen, in arrears":            {400, `{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}`},
			"Google, a quota of nothing":  {429, `[{"error":{"code":429,"message":"You exceeded your current quota. * Quota exceeded for metric: generativelanguage.googleapis.com/free_tier_requests, limit: 0, model: gemini-pro\nPlease retry in 34.1s."}}]`},
			"SiliconFlow, no JSON at all": {403, "Sorry, your account balance is insufficient"},
		},
		string(model.RateLimited): {
			"OpenAI, with the way to the bill": {429, `{"error":{"message":"Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.","type":"requests","code":"rate_limit_exceeded"}}`},
			"Groq, with the way to the bill":   {429, `{"error":{"message":"Rate limit reached for model m on tokens per minute (TPM): Limit 6000, Used 5000, Requested 2000. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing","type":"tokens","code":"rate_limit_exceeded"}}`},
			"Qwen, tokens of a minute":         {429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://help.aliyun.com/zh/model-studio/error-code#token-limit","type":"insufficient_quota","code":"insufficient_quota"}}`},
			"Qwen, another way":                {429, `{"error":{"message":"Allocated quota exceeded, please increase your quota limit.","type":"insufficient_quota","code":"insufficient_quota"}}`},
			"Kimi":                             {429, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`},
		},
		string(model.Context): {
			"OpenAI, more than a minute's":  {429, `{"error":{"message":"Request too large for gpt-4o in organization o on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`},
			"Groq, more than a minute's":    {413, `{"error":{"message":"Request too large for model m on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing","type":"tokens","code":"rate_limit_exceeded"}}`},
			"Anthropic, with the answer":    {400, said("input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again")},
			"SGLang":                        {400, said("Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.")},
			"DeepInfra":                     {400, said("Requested input length 33000 exceeds maximum input length 32768")},
			"TGI":                           {422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 4096. Given: 5000","error_type":"validation"}`},
			"Databricks":                    {400, said("Input exceeds maximum allowed content length of 32768 bytes")},
			"GitHub":                        {413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`},
			"Doubao":                        {400, said("Total tokens of image and text exceed max message tokens. Request id: 1")},
			"Cohere":                        {400, said("too many tokens: the total number of tokens in the prompt cannot exceed 4081")},
			"Google, too many bytes":        {400, said("Request payload size exceeds the limit: 20971520 bytes.")},
			"a proxy in front of a server":  {413, "<html><h1>413 Request Entity Too Large</h1></html>"},
			"Mistral":                       {400, said("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length")},
			"LM Studio, a text as an error": {400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`},
		},
		string(model.Filtered): {
			"Azure":                   {400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","param":"prompt","code":"content_filter","status":400}}`},
			"Anthropic":               {400, said("Output blocked by content filtering policy")},
			"OpenAI":                  {400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt","type":"invalid_request_error","code":"invalid_prompt"}}`},
			"Qwen":                    {400, `{"error":{"message":"Input data may contain inappropriate content.","type":"data_inspection_failed","code":"data_inspection_failed"}}`},
			"DeepSeek":                {400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","code":"invalid_request_error"}}`},
			"GLM":                     {400, `{"contentFilter":[{"level":1,"role":"user"}],"error":{"code":"1301","message":"The system has detected potentially unsafe or sensitive content in input or generation."}}`},
			"GLM, in Chinese":         {400, `{"contentFilter":[{"level":1,"role":"user"}],"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}`},
			"Kimi":                    {400, `{"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}`},
			"OpenRouter, forbidden":   {403, `{"error":{"code":403,"message":"openai/gpt-4o requires moderation on Azure. Your input was flagged for \"violence\"","metadata":{"reasons":["violence"],"flagged_input":"x"}}}`},
			"xAI, forbidden":          {403, `{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO"}`},
			"MiniMax":                 {400, said("input new_sensitive (1026)")},
			"Doubao":                  {400, `{"error":{"code":"InputTextSensitiveContentDetected","message":"The request failed."}}`},
			"with the status of none": {500, `{"error":{"code":"DataInspectionFailed","message":"Output data may contain inappropriate content."}}`},
		},
		string(model.BadRequest): {
			"Ollama, no tools":         {400, said("registry.ollama.ai/library/gemma:2b does not support tools")},
			"a page of the bill":       {400, said("Invalid value for 'tools', see https://example.org/billing")},
			"Google, a signature":      {400, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`},
			"a code that is no 1301":   {400, `{"error":{"code":"13011","message":"no"}}`},
			"a prompt of another kind": {400, `{"error":{"code":"invalid_prompt","message":"The prompt is missing."}}`},
		},
		string(model.Auth): {
			"forbidden": {403, said("You are not allowed to use this model")},
		},
		string(model.Transient): {
			"llama.cpp, loading": {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`},
		},
	}
	for kind, servers := range tests {
		for name, test := range servers {
			t.Run(kind+"/"+name, func(t *testing.T) {
				e := refusedWith(t, test.status, nil, test.body)
				if string(e.Kind) != kind {
					t.Errorf("%q is of kind %s, want %s", e.Message, e.Kind, kind)
				}
			})
		}
	}
}

// TestNoWaitGetsPast: what is too much for a minute stays so, and what is not
// paid for too, whatever wait comes with it.
func TestNoWaitGetsPast(t *testing.T) {
	header := map[string]string{"Retry-After": "5"}
	tests := map[string]struct {
		body string
		kind model.Kind
	}{
		"too much for a minute": {`{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 30000, Requested 41000.","code":"rate_limit_exceeded"}}`, model.Context},
		"no money":              {`{"error":{"message":"Insufficient balance"}}`, model.Permanent},
		"a limit":               {`{"error":{"message":"Rate limit reached, see https://example.org/billing"}}`, model.RateLimited},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if e := refusedWith(t, 429, header, test.body); e.Kind != test.kind || e.RetryAfter != 5*time.Second {
				t.Errorf("kind %s, retry after %s, want %s after 5s", e.Kind, e.RetryAfter, test.kind)
			}
		})
	}
}
