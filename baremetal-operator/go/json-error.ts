/** What Go's encoding/json refuses, in its words. */
export class GoJsonError extends Error {
  override name = 'GoJsonError'
}
