import { defined, UserError } from '../../base/runtime/index.js'
import type { ControlHandler, ControlOperationId, LabRecordings, ReplayRequest } from '../../control/index.js'
import type { Journal } from '../journal/journal.js'
import { ERRORS } from '../errors.js'
import { queryFrom } from './journal-handlers.js'

/** The calls that make a recording and replay one. */
export function replayHandlers(journal: Journal, recordings: LabRecordings | undefined) {
  const own = (): LabRecordings => {
    if (recordings) return recordings
    throw new UserError('no-recordings', 'this lab has no recordings', { remedy: ERRORS['no-recordings'].remedy })
  }
  return {
    recording: ({ query }) => ({
      status: 200,
      headers: { 'content-type': 'application/x-ndjson' },
      body: own().write(journal.entries(queryFrom(query))),
    }),
    replay: () => ({ replay: own().report() ?? null }),
    // The caller's own credentials stand in for those of the recording.
    beginReplay: ({ body, request }) =>
      own().begin(body as ReplayRequest, defined({ authorization: request.headers['authorization'] })),
    stopReplay: () => own().stop(),
  } satisfies Partial<Record<ControlOperationId, ControlHandler>>
}
