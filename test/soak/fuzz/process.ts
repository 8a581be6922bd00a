import { fuzzSession, type Session } from './session.js'

/** A process that goes through the sessions it is given, one after another, and tells how each went. */
process.on('message', (session: Session) => {
  const report = (calls: number): void => void process.send?.({ progress: calls })
  fuzzSession(session, report).then(
    (done) => process.send?.({ done }),
    (error: unknown) =>
      process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
