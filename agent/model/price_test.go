package model_test

import (
	"math"
	"testing"

	"github.com/belljar/belljar/agent/model"
)

func TestCost(t *testing.T) {
	plain := model.Price{Rates: model.Rates{Input: 2, Output: 8}}
	full := model.Price{
		Rates: model.Rates{Input: 2, Output: 8, Cached: new(0.5), Reasoning: new(4.0)},
		Long:  &model.LongRates{Above: 1000, Rates: model.Rates{Input: 4, Output: 16, Cached: new(0.0)}},
	}
	for name, test := range map[string]struct {
		price model.Price
		usage model.Usage
		want  float64 // in millionths
	}{
		"nothing":                     {plain, model.Usage{}, 0},
		"in and out":                  {plain, model.Usage{Input: 100, Output: 10}, 280},
		"cached without a rate":       {plain, model.Usage{Input: 100, Cached: 60}, 200},
		"cached":                      {full, model.Usage{Input: 100, Cached: 60}, 40*2 + 60*0.5},
		"reasoning without a rate":    {plain, model.Usage{Output: 100, Reasoning: 60}, 800},
		"reasoning":                   {full, model.Usage{Output: 100, Reasoning: 60}, 40*8 + 60*4},
		"at the edge of long":         {full, model.Usage{Input: 1000, Output: 1}, 2008},
		"long":                        {full, model.Usage{Input: 1001, Output: 1}, 4020},
		"long, cached for nothing":    {full, model.Usage{Input: 1001, Cached: 1001}, 0},
		"more cached than there was":  {full, model.Usage{Input: 10, Cached: 100}, 5},
		"more thought than there was": {full, model.Usage{Output: 10, Reasoning: 100}, 40},
		"free":                        {model.Price{}, model.Usage{Input: 100, Output: 10}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.price.Cost(test.usage) * 1e6; math.Abs(got-test.want) > 1e-6 {
				t.Errorf("%g millionths, want %g", got, test.want)
			}
		})
	}
}
