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
