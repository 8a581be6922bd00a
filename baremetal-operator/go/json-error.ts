/** An error of Go's encoding/json, in its words. */
export class GoJsonError extends Error {
  override name = 'GoJsonError'
}
