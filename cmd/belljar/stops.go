package main

import "github.com/belljar/belljar/agent"

// stopCode maps the reason why a run ended to the exit code of run.
func stopCode(stop agent.Stop) int {
	switch stop {
	case agent.StopFinished:
		return exitOK
	case agent.StopMaxTurns, agent.StopMaxTime, agent.StopMaxRequests, agent.StopMaxTokens, agent.StopMaxCost,
		agent.StopMaxContext:
		return exitLimit
	case agent.StopStuck:
		return exitStuck
	case agent.StopRefused:
		return exitRefused
	case agent.StopModel:
		return exitModel
	default:
		return exitFailure
	}
}

// stopText says in words why a run ended.
func stopText(stop agent.Stop) string {
	switch stop {
	case agent.StopFinished:
		return "finished"
	case agent.StopMaxTurns:
		return "stopped at the limit on turns; --max-turns raises it"
	case agent.StopMaxTime:
		return "stopped at the limit on time; --max-time raises it"
	case agent.StopMaxRequests:
		return "stopped at the limit on requests; --max-requests raises it"
	case agent.StopMaxCost:
		return "stopped at the limit on the cost; --max-cost raises it"
	case agent.StopMaxTokens:
		return "stopped at the limit on tokens; --max-tokens raises it"
	case agent.StopMaxContext:
		return "stopped: the conversation is too long for the model"
	case agent.StopStuck:
		return "stopped: the model does the same again and again"
	case agent.StopRefused:
		return "stopped: the model refused, or its answer was filtered"
	case agent.StopModel:
		return "stopped: the model failed"
	case agent.StopSandbox:
		return "stopped: the sandbox failed"
	case agent.StopRecord:
		return "stopped: the record could not be written"
	case agent.StopCanceled:
		return "interrupted"
	default:
		return "stopped: " + string(stop)
	}
}
