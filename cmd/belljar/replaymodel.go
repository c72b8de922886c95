package main

import (
	"github.com/belljar/belljar/agent/model"
	"github.com/belljar/belljar/agent/replay"
	"github.com/belljar/belljar/agent/trajectory"
)

// replayPrefix marks a model that is the answers of a recorded run.
const replayPrefix = "replay:"

// recordedModel reads the answers of a session.
func (a *app) recordedModel(id string) (model.Model, error) {
	session, err := a.recordedSession(id)
	if err != nil {
		return nil, err
	}
	events, err := session.Events()
	if err != nil {
		return nil, err
	}
	defer events.Close()
	return replay.NewModel(session.ID, trajectory.NewReader(events))
}

// watchRecorded puts on record where a run on recorded answers leaves the way of
// the recorded run.
func (j *job) watchRecorded() {
	recorded, ok := j.model.Model.(*replay.Model)
	if !ok {
		return
	}
	recorded.Watch(j.masker.Mask, func(text string) error {
		return j.record.Record(trajectory.Notice{Kind: trajectory.NoticeReplay, Text: text})
	})
}
