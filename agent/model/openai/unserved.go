package openai

// unserved says what can be done about a model for which a router of providers,
// such as OpenRouter, has nobody; "" is another refusal. Such routers answer as
// if there were no such model, whatever it is that nobody offers. Ingresses have
// no endpoints either, and the address may be to blame for that.
func unserved(said refusal) string {
	switch {
	case said.matches(`no endpoints found for (\S+$|\S+/\S)`):
		return "nobody offers a model of this name now; check the name"
	case !said.matches(`no endpoints (found (that|matching)|available matching)|no allowed providers`):
		return ""
	case said.has("support tool", "tool use", "tool call"):
		return "nobody who offers this model takes tools, and belljar works with nothing else; choose another model"
	case said.namesImages():
		return "nobody who offers this model takes images; leave --images away, or choose another model"
	case said.has("allowed providers", "data policy", "privacy", "guardrail"):
		return "your settings there leave nobody who offers this model; change them, or choose another model"
	default:
		return "nobody who offers this model does what is asked for; choose another model, or change your settings there"
	}
}
