/** Recordings of what an Ironic, its clients and its agents say to each other: made, played again and compared. */
export { ERRORS } from './errors.js'
export {
  type Exchange,
  FORMAT_VERSION,
  type Message,
  type Party,
  type Recording,
  type RecordingHeader,
} from './format/exchange.js'
export { readRecording, type ReadOptions } from './format/read-recording.js'
export { openRecorder, type Recorder, type RecorderCounts, type RecorderOptions } from './proxy/recorder.js'
export type { Call } from './comparison/calls.js'
export { type Comparison, diffRecordings } from './comparison/diff-recordings.js'
export {
  type Difference,
  type DifferenceGroup,
  grouped,
  type SeenDifference,
  sentenceOf,
} from './comparison/difference.js'
export { COMPARED_HEADERS, type Variation, VARYING_FIELDS } from './comparison/fields.js'
export { IdMap } from './comparison/ids.js'
export { type KnownDifference, KnownDifferences, readKnownDifferences } from './comparison/known-differences.js'
export { ironicUrl } from './proxy/recorder.js'
export { type PlayedCall, replayClient, type ReplayOptions } from './replay/replay-client.js'
export { type AgentReplayOptions, replayAgents } from './replay/replay-agent.js'
