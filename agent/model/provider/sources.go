package provider

// A WindowSource is where a server says how many tokens a model takes: what to
// ask it, and where in its answer the number stands.
type WindowSource struct {
	// Path is what is asked, below the server's address, or, with a slash in
	// front, below that address less the "/v1" at its end.
	Path string
	// Query is sent along. ModelName stands for the name of the model.
	Query map[string]string
	// Post sends the model's name in the body; otherwise it is a plain GET.
	Post bool
	// List is the field of the answer that holds a list of models, of which the
	// one counts that any of Names gives the model's name; "" is an answer that
	// is about the one model.
	List  string
	Names []string
	// Tokens are the fields that hold the number. The least counts of those that
	// are there. A dot leads into an object, or into a text that has a name and
	// a value on each line. A star as the last part but one stands
	// for one word in a field's own name, which has a dot then.
	Tokens []string
	// Passing tells that the number is that of the model as it is loaded now. It
	// may be loaded for another client, and loaded anew for the next request.
	Passing bool
	// Most are fields, named like Tokens, that bound the number where there is
	// one. They tell nothing alone.
	Most []string
}

// ModelName stands for the name of the model in the query of a WindowSource.
const ModelName = "{model}"

// sources are where a provider says what its models take, the ones that are
// trusted most first. Only what is in force is asked for: what a model was
// trained for is more than most servers of one's own give it, and they cut what
// is longer without a word. Servers that nothing is known of are not asked:
// those that are likely among them refuse what is too long.
func sources(name string) []WindowSource {
	switch name {
	case "vllm":
		return []WindowSource{listed("models", "data", "max_model_len")}
	case "llama.cpp":
		// A server of several models would load one for the question.
		query := map[string]string{"model": ModelName, "autoload": "false"}
		tokens := []string{"default_generation_settings.n_ctx", "n_ctx"} // of one slot
		return []WindowSource{
			{Path: "/props", Query: query, Tokens: tokens},
			{Path: "props", Query: query, Tokens: tokens},
			listed("models", "data", "meta.n_ctx"), // of what stands before several servers
		}
	case "lmstudio":
		return []WindowSource{listed("/api/v0/models", "data", "loaded_context_length")}
	case "ollama":
		// What whoever made the model set goes before what it was loaded with,
		// which may be another client's: then it is loaded anew for belljar.
		running := listed("/api/ps", "models", "context_length")
		running.Names, running.Passing = []string{"model", "name"}, true
		return []WindowSource{{
			Path: "/api/show", Post: true, Tokens: []string{"parameters.num_ctx"},
			Most: []string{"model_info.*.context_length"}, // it gives no model more than it was trained for
		}, running}
	case "openrouter":
		return []WindowSource{listed("models", "data", "context_length", "top_provider.context_length")}
	case "kimi":
		return []WindowSource{listed("models", "data", "context_length")}
	case "groq":
		return []WindowSource{listed("models", "data", "context_window")}
	default:
		return nil
	}
}

// listed is a source that lists models by their ids.
func listed(path, list string, tokens ...string) WindowSource {
	return WindowSource{Path: path, List: list, Names: []string{"id"}, Tokens: tokens}
}
