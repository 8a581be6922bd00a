import { FetchFailure, type FileAnswer } from '../../bytes/index.js'
import { isObject, UserError } from '../../runtime/index.js'
import { ERRORS } from '../errors.js'

/** More of an error's body is not read. */
const MAX_ERROR_BODY_CHARACTERS = 16 * 1024

export const registryUnreachableError = (host: string, cause: FetchFailure): UserError =>
  new UserError('registry-unreachable', `the registry ${host} cannot be reached: ${cause.message}`, {
    cause,
    remedy: cause.remedy,
  })

/**
 * The registry's own words about its refusal, for the end of a sentence; empty when it says nothing that can be shown. The body of
 * the answer is used up.
 */
export async function answerWords(answer: FileAnswer): Promise<string> {
  try {
    const bytes = await answer.bytes(MAX_ERROR_BODY_CHARACTERS)
    const value: unknown = JSON.parse(bytes.toString())
    const errors: unknown = isObject(value) ? value['errors'] : undefined
    const first: unknown = Array.isArray(errors) ? errors[0] : undefined
    if (!isObject(first)) return ''
    const words = [first['code'], first['message']].filter((one) => typeof one === 'string').join(': ')
    // It goes to a terminal, and may hold sequences that change it.
    const shown = words.replace(/[^\x20-\x7e\u00a0-\ufffd]+/g, ' ').slice(0, 200)
    return shown === '' ? '' : ` (${shown})`
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FetchFailure) return ''
    throw error
  } finally {
    await answer.close()
  }
}

/** A status that the protocol does not have at this place. */
export async function unexpectedStatus(doing: string, answer: FileAnswer): Promise<UserError> {
  const { status } = answer
  const words = await answerWords(answer)
  return new UserError('registry-refused', `${doing} failed: the registry answers ${status}${words}`, {
    remedy: status >= 500 ? 'see the log of the registry' : ERRORS['registry-refused'].remedy,
  })
}
