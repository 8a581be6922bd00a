import { AgentError } from '../../wire/index.js'
import type { Validation } from './extension.js'
import { isObject } from './manager-step.js'

const MD5_DIGITS = 32

/**
 * What `prepare_image` is refused for before it starts, in IPA's order (facts/ironic-python-agent.md 2).
 *
 * @throws AgentError InvalidCommandParamsError
 */
export function checkImageInfo(given: unknown, { md5 }: Validation): void {
  const bad = (what: string): AgentError => new AgentError('InvalidCommandParamsError', what)
  const info = isObject(given) ? given : {}
  for (const field of ['id', 'urls']) if (info[field] === undefined) throw bad(`Image is missing '${field}' field.`)
  if (!Array.isArray(info['urls']) || info['urls'].length === 0)
    throw bad("Image 'urls' must be a list with at least one element.")
  const { checksum, os_hash_algo: algorithm, os_hash_value: value } = info
  if (checksum !== undefined && checksum !== null) {
    if (typeof checksum !== 'string' || checksum === '') throw bad("Image 'checksum' must be a non-empty string.")
    const isUrl = /^\w+:\/\//.test(checksum)
    if (!isUrl && checksum.length <= MD5_DIGITS && !md5 && !value)
      throw bad(
        'Image checksum is MD5, which is not enabled: give os_hash_algo and os_hash_value, or a longer checksum.',
      )
    return
  }
  if (!isText(algorithm) || !isText(value))
    throw bad("Image is missing 'checksum', or 'os_hash_algo' and 'os_hash_value'.")
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
